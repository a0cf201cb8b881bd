package task

import "time"

// A Condition is how a living attempt is doing. It is not a status: it moves no task,
// it feeds deadlines and the inbox. The zero value is an agent at work.
type Condition struct {
	Name   string    `json:"name,omitempty"`
	Detail string    `json:"detail,omitempty"` // what it waits for, in its own words; untrusted
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"` // limited: when the limit is lifted
	Left   Left      `json:"left,omitempty"` // idle: what its turn ended with
}

// Left says what sort of message a turn ended with, "" for none.
type Left string

// What a turn can end with.
const (
	LeftWords    Left = "words"
	LeftQuestion Left = "question" // to a person
)

// The conditions of a living attempt.
const (
	Running           = "running"
	Idle              = "idle"               // its turn ended, and nobody told it to go on
	WaitingInput      = "waiting-input"      // it asked a question at its terminal, or its screen keeps a message from it
	WaitingPermission = "waiting-permission" // it asks whether it may do something
	Limited           = "limited"            // its provider serves it no more for now
	NotStarted        = "not-started"        // it reported nothing since its start, and its screen stands still
	TurnFailed        = "turn-failed"        // its turn ended with an error of its provider
)

// ConditionInfo is the row of a condition in the table of conditions.
type ConditionInfo struct {
	Name      string
	Blocked   bool // the attempt cannot go on before somebody else does something
	ForPerson bool // that somebody is a person, at its terminal
}

// Conditions lists the conditions. docs/OPERATIONS.md has the words of each.
func Conditions() []ConditionInfo {
	return []ConditionInfo{
		{Name: Running},
		{Name: Idle},
		{Name: WaitingInput, Blocked: true, ForPerson: true},
		{Name: WaitingPermission, Blocked: true, ForPerson: true},
		{Name: Limited, Blocked: true},
		{Name: NotStarted, Blocked: true, ForPerson: true},
		{Name: TurnFailed, Blocked: true, ForPerson: true},
	}
}

func findCondition(name string) (ConditionInfo, bool) {
	for _, c := range Conditions() {
		if c.Name == name {
			return c, true
		}
	}
	return ConditionInfo{}, false
}

// IsBlocked says that the attempt cannot go on before somebody else does something.
func (c Condition) IsBlocked() bool {
	info, _ := findCondition(c.Name)
	return info.Blocked
}

// NeedsPerson says that a condition of that name lasts until a person was at the terminal.
func NeedsPerson(condition string) bool {
	info, _ := findCondition(condition)
	return info.ForPerson
}

// InTurn says that the attempt may be doing something. Only the end of a turn says that it
// does nothing; one that never reported a turn counts as in one for as long as it lives.
func (c Condition) InTurn() bool { return c.Name != Idle && c.Name != TurnFailed }

// AsksPerson says that its turn ended with a question to a person.
func (c Condition) AsksPerson() bool { return c.Name == Idle && c.Left == LeftQuestion }

// SameAs says whether two conditions say the same, whenever they began.
func (c Condition) SameAs(other Condition) bool {
	return c.Name == other.Name && c.Detail == other.Detail && c.Until.Equal(other.Until)
}

// KnownCondition says whether name is the name of a condition.
func KnownCondition(name string) bool {
	_, ok := findCondition(name)
	return ok
}

// Unstarted is how often the agent of a state could not start in this visit.
type Unstarted struct {
	Count int    `json:"count"`
	Words string `json:"words,omitempty"` // what it showed last, in one line; untrusted
}

// Usage is what an attempt has consumed so far.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	CostMicroUSD int64 `json:"cost_micro_usd,omitempty"` // millionths of a dollar
}

// Minus returns what u has that v has not, never less than nothing.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CachedTokens: max(0, u.CachedTokens-v.CachedTokens), CostMicroUSD: max(0, u.CostMicroUSD-v.CostMicroUSD),
	}
}

// Plus returns the sum.
func (u Usage) Plus(v Usage) Usage {
	return Usage{InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens, CachedTokens: u.CachedTokens + v.CachedTokens, CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD}
}

// Spend is what a task has cost, in all and on the last day it cost anything.
type Spend struct {
	Usage
	Day             string `json:"day,omitempty"` // 2006-01-02, UTC
	DayAttempts     int    `json:"day_attempts,omitempty"`
	DayCostMicroUSD int64  `json:"day_cost_micro_usd,omitempty"`
}

// OnDay returns the spend with its day turned to that of at.
func (s Spend) OnDay(at time.Time) Spend {
	if day := DayOf(at); day != s.Day {
		s.Day, s.DayAttempts, s.DayCostMicroUSD = day, 0, 0
	}
	return s
}

// DayOf names the day budgets count by.
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }
