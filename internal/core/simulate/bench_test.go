package simulate_test

import (
	"testing"

	"orange/internal/core/simulate"
	"orange/internal/core/workflow"
	"orange/internal/core/workflow/builtin"
)

func loadDefinition(tb testing.TB, name string) *workflow.Definition {
	tb.Helper()
	text, ok := builtin.Text(name)
	if !ok {
		tb.Fatalf("workflow %s is not built in", name)
	}
	def, err := workflow.Parse(name+".yaml", text)
	if err != nil {
		tb.Fatal(err)
	}
	return def
}

// BenchmarkSimulate plays whole lives on one core.
func BenchmarkSimulate(b *testing.B) {
	for _, name := range builtin.Names() {
		b.Run(name, func(b *testing.B) {
			def := loadDefinition(b, name)
			if def.Board != nil {
				b.Skip("what agents do to a card cannot be guessed")
			}
			b.ReportAllocs()
			if _, err := simulate.Run(def, simulate.RunOptions{Seed: 1}, 0, b.N); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lives/s")
		})
	}
}
