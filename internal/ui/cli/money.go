package cli

import (
	"fmt"
	"strconv"
	"strings"
)

const (
	microsPerDollar = 1_000_000
	maxDollars      = 1_000_000_000
)

// money is a flag's amount of dollars, kept in millionths.
type money int64

// String implements pflag.Value.
func (m *money) String() string {
	if *m == 0 {
		return "0"
	}
	return strings.TrimPrefix(dollars(int64(*m)), "$")
}

// Type implements pflag.Value.
func (m *money) Type() string { return "dollars" }

// Set implements pflag.Value. It reads digits, not a fraction of two: no amount is
// rounded.
func (m *money) Set(text string) error {
	whole, part, dotted := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	if whole == "" && part == "" || dotted && part == "" || !digits(whole+part) {
		return fmt.Errorf("give dollars, such as 5 or 2.50")
	}
	if len(part) > 6 {
		return fmt.Errorf("give at most 6 decimals")
	}
	n, err := strconv.ParseInt("0"+whole, 10, 64)
	if err != nil || n > maxDollars {
		return fmt.Errorf("give at most %d dollars", maxDollars)
	}
	micros, err := strconv.ParseInt(part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil {
		return err
	}
	*m = money(n*microsPerDollar + micros)
	return nil
}

func digits(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// dollars writes an amount exactly, with two decimals at least.
func dollars(micros int64) string {
	part := strings.TrimRight(fmt.Sprintf("%06d", micros%microsPerDollar), "0")
	for len(part) < 2 {
		part += "0"
	}
	return fmt.Sprintf("$%d.%s", micros/microsPerDollar, part)
}

// spending writes an amount to the cent.
func spending(micros int64) string {
	const cent = microsPerDollar / 100
	if micros > 0 && micros < cent/2 {
		return "<$0.01"
	}
	cents := (micros + cent/2) / cent
	return fmt.Sprintf("$%d.%02d", cents/100, cents%100)
}

// roughly writes a large number in few characters.
func roughly(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 10_000:
		return fmt.Sprintf("%d.%dk", n/1000, n%1000/100)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	}
	return fmt.Sprintf("%d.%dM", n/1_000_000, n%1_000_000/100_000)
}
