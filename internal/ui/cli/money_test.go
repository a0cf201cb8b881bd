package cli

import "testing"

func TestMoney(t *testing.T) {
	tests := []struct {
		in    string
		want  int64
		shown string
		err   string
	}{
		{"5", 5_000_000, "$5.00", ""},
		{"5.00", 5_000_000, "$5.00", ""},
		{"$2.50", 2_500_000, "$2.50", ""},
		{".5", 500_000, "$0.50", ""},
		{"0", 0, "$0.00", ""},
		{"0.000001", 1, "$0.000001", ""},
		{"1.005", 1_005_000, "$1.005", ""},
		{"0.1", 100_000, "$0.10", ""},
		{"4503599627.370497", 0, "", "give at most 1000000000 dollars"},
		{"999999999.999999", 999_999_999_999_999, "$999999999.999999", ""},
		{"99999999999999999999", 0, "", "give at most 1000000000 dollars"},
		{"1.0000001", 0, "", "give at most 6 decimals"},
		{"", 0, "", "give dollars, such as 5 or 2.50"},
		{".", 0, "", "give dollars, such as 5 or 2.50"},
		{"5.", 0, "", "give dollars, such as 5 or 2.50"},
		{"-1", 0, "", "give dollars, such as 5 or 2.50"},
		{"1e3", 0, "", "give dollars, such as 5 or 2.50"},
		{"1,5", 0, "", "give dollars, such as 5 or 2.50"},
		{"five", 0, "", "give dollars, such as 5 or 2.50"},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			var m money
			err := m.Set(tt.in)
			if (err == nil) != (tt.err == "") || err != nil && err.Error() != tt.err {
				t.Fatalf("got %v, want %q", err, tt.err)
			}
			if int64(m) != tt.want || err == nil && formatDollars(int64(m)) != tt.shown {
				t.Errorf("got %d, %s; want %d, %s", m, formatDollars(int64(m)), tt.want, tt.shown)
			}
		})
	}
}

func TestSpending(t *testing.T) {
	for micros, want := range map[int64]string{0: "$0.00", 1: "<$0.01", 4_999: "<$0.01", 5_000: "$0.01", 994_999: "$0.99", 995_000: "$1.00", 12_345_678: "$12.35"} {
		if got := formatCents(micros); got != want {
			t.Errorf("%d: got %s, want %s", micros, got, want)
		}
	}
}

func TestRoughly(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1_000: "1.0k", 9_999: "9.9k", 10_000: "10k", 999_999: "999k", 1_250_000: "1.2M"} {
		if got := formatRoughly(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}
