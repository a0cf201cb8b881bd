package task

import (
	"cmp"
	"time"
)

// A Condition describes how a living attempt is doing. It is not a status: it does not move the task, but affects
// deadlines and the inbox. The zero value is an agent at work.
type Condition struct {
	Name   string    `json:"name,omitempty"`
	Detail string    `json:"detail,omitempty"` // what it waits for, in the agent's words; untrusted
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"` // limited: when the limit ends
	Left   Left      `json:"left,omitempty"` // idle: what its turn ended with
}

// Left is the kind of message a turn ended with, "" for none.
type Left string

// What a turn can end with.
const (
	LeftWords    Left = "words"
	LeftQuestion Left = "question" // to a person
)

// The conditions of a living attempt.
const (
	Running           = "running"
	Idle              = "idle"               // its turn ended, and it has no message to continue
	WaitingInput      = "waiting-input"      // it asked a question at its terminal, or its screen blocks messages to it
	WaitingPermission = "waiting-permission" // it asks for permission to do something
	Limited           = "limited"            // its provider's usage limit is reached
	NotStarted        = "not-started"        // it reported nothing since its start, and its screen does not change
	TurnFailed        = "turn-failed"        // its turn ended with an error of its provider
)

// ConditionInfo is the row of a condition in the table of conditions.
type ConditionInfo struct {
	Name      string
	Words     string // what a person reads after the name of the role
	Blocked   bool   // the attempt cannot continue before somebody else acts
	ForPerson bool   // that somebody is a person, at its terminal
}

// Conditions lists the conditions. docs/OPERATIONS.md describes each.
func Conditions() []ConditionInfo {
	return []ConditionInfo{
		{Name: Running, Words: "at work"},
		{Name: Idle, Words: "idle"},
		{Name: WaitingInput, Words: "waits for input", Blocked: true, ForPerson: true},
		{Name: WaitingPermission, Words: "asks for permission", Blocked: true, ForPerson: true},
		{Name: Limited, Words: "at its usage limit", Blocked: true},
		{Name: NotStarted, Words: "has not started", Blocked: true, ForPerson: true},
		{Name: TurnFailed, Words: "failed its turn", Blocked: true, ForPerson: true},
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

// Words returns the condition in words that follow the name of a role, without its details.
func (c Condition) Words() string {
	info, known := findCondition(cmp.Or(c.Name, Running))
	switch {
	case !known:
		return c.Name
	case c.AsksPerson():
		return info.Words + ", with a question"
	}
	return info.Words
}

// Text returns the condition in words, with its details.
func (c Condition) Text() string {
	if c.Detail == "" {
		return c.Words()
	}
	return c.Words() + ": " + c.Detail
}

// IsBlocked reports whether the attempt cannot continue before somebody else acts.
func (c Condition) IsBlocked() bool {
	info, _ := findCondition(c.Name)
	return info.Blocked
}

// NeedsPerson reports whether the named condition lasts until a person acts at the terminal.
func NeedsPerson(condition string) bool {
	info, _ := findCondition(condition)
	return info.ForPerson
}

// InTurn reports whether the attempt may be working. Only the end of a turn shows that it is not; an attempt that never
// reported a turn counts as in one while it lives.
func (c Condition) InTurn() bool { return c.Name != Idle && c.Name != TurnFailed }

// AsksPerson reports whether its turn ended with a question to a person.
func (c Condition) AsksPerson() bool { return c.Name == Idle && c.Left == LeftQuestion }

// SameAs reports whether two conditions are equal apart from when they began.
func (c Condition) SameAs(other Condition) bool {
	return c.Name == other.Name && c.Detail == other.Detail && c.Until.Equal(other.Until)
}

// KnownCondition reports whether name is the name of a condition.
func KnownCondition(name string) bool {
	_, ok := findCondition(name)
	return ok
}

// Unstarted records how often the agent of a state could not start in this visit.
type Unstarted struct {
	Count int    `json:"count"`
	Words string `json:"words,omitempty"` // its last output, in one line; untrusted
}

// Usage is what an attempt has consumed so far.
type Usage struct {
	InputTokens  int64 `json:"input_tokens,omitempty"`
	OutputTokens int64 `json:"output_tokens,omitempty"`
	CachedTokens int64 `json:"cached_tokens,omitempty"`
	CostMicroUSD int64 `json:"cost_micro_usd,omitempty"` // millionths of a dollar
	CostReported bool  `json:"cost_reported,omitempty"`  // the harness reports the cost, even if that is 0; journals from before do not contain it
}

// HasCost reports whether the cost is known. A cost of 0 that nobody reported is not known.
func (u Usage) HasCost() bool { return u.CostReported || u.CostMicroUSD > 0 }

// Minus returns the difference u - v, with negative fields set to 0.
func (u Usage) Minus(v Usage) Usage {
	return Usage{
		InputTokens: max(0, u.InputTokens-v.InputTokens), OutputTokens: max(0, u.OutputTokens-v.OutputTokens),
		CachedTokens: max(0, u.CachedTokens-v.CachedTokens), CostMicroUSD: max(0, u.CostMicroUSD-v.CostMicroUSD),
		CostReported: u.CostReported && !v.CostReported,
	}
}

// Plus returns the sum.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		CostMicroUSD: u.CostMicroUSD + v.CostMicroUSD, CostReported: u.CostReported || v.CostReported,
	}
}

// Spend is what a task has cost, in total and on the last day with costs.
type Spend struct {
	Usage
	Day             string `json:"day,omitempty"` // 2006-01-02, UTC
	DayAttempts     int    `json:"day_attempts,omitempty"`
	DayCostMicroUSD int64  `json:"day_cost_micro_usd,omitempty"`
}

// OnDay returns the spend with its day set to that of at.
func (s Spend) OnDay(at time.Time) Spend {
	if day := DayOf(at); day != s.Day {
		s.Day, s.DayAttempts, s.DayCostMicroUSD = day, 0, 0
	}
	return s
}

// DayOf returns the day, in UTC, for which budgets count at.
func DayOf(at time.Time) string { return at.UTC().Format(time.DateOnly) }
