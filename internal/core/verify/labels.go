package verify

// stepLabel says what a step of one task needs from what it shares with others, and who does it. The label 0 is internal: nothing
// outside of the task is involved. Several may hold of one step.
type stepLabel uint32

const (
	needsFree  stepLabel = 1 << iota // a workspace is bound: one has to be free
	needsNone                        // no workspace is free
	needsMet                         // the task is after no other that has not landed
	needsUnmet                       // it is after one
	byTurn                           // the queue gives the task its turn
	byPerson                         // a person does it, or it comes from outside of Orange
	byAgent                          // an agent does it, if it ever does
	endsTask                         // the task is cancelled
	handMerge                        // it needs a branch that somebody else has merged
	checkPass                        // the candidate is built on the target, and its checks pass
	checkFail                        // a check fails on the candidate
	landTask                         // the target moves to the candidate
	retryTask                        // the target has moved: another candidate is needed
	giveBack                         // the landing ends without moving the target
	needsToken                       // first of the serial groups that have to be free, one bit each
)

// hiddenLabels are what other tasks do not observe of a step.
const hiddenLabels = byPerson | byAgent

// maxGroups is how many serial groups are told apart.
const maxGroups = 8

// needsBusy is the first of the serial groups that another task has to be in, one bit each.
const needsBusy = needsToken << maxGroups

// tokens returns the serial groups that have to be free.
func (l stepLabel) tokens() observation { return observation(l/needsToken) & (1<<maxGroups - 1) }

// busyTokens returns the serial groups that another task has to be in.
func (l stepLabel) busyTokens() observation { return observation(l/needsBusy) & (1<<maxGroups - 1) }

// isDenial reports whether a step is what happens instead of one that needs something from others.
func (l stepLabel) isDenial() bool { return l&(needsNone|needsUnmet) != 0 || l.busyTokens() != 0 }

// isLanding reports whether only the first of the landing queue takes a step.
func (l stepLabel) isLanding() bool { return l&(checkPass|checkFail|landTask|retryTask|giveBack) != 0 }

// observation is what others, and the properties, can observe of a task. The lowest bits are the serial groups that it
// works in.
type observation uint64

const (
	hasWorkspace observation = 1 << (maxGroups + iota)
	isQueued                 // it waits until it can have what it needs
	isPolling                // it tries again after a while
	isLanding                // it is in the landing queue
	isChecked                // its candidate passed the checks
	isReturned               // its last landing failed, and no agent has worked on it since
	movesOn                  // something moves it on by itself, or a person is asked to
	hasLanded                // it is over and was not cancelled
	isCancelled
	isUncreated
)

// enabledShift is where an observation has the number of the set of steps that the task takes by itself when others let it.
const enabledShift = 32

// groups returns the serial groups in which a task works.
func (o observation) groups() observation { return o & (1<<maxGroups - 1) }

// waits reports whether a task waits for something that others have.
func (o observation) waits() bool { return o&(isQueued|isPolling|isLanding) != 0 }
