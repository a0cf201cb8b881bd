// Package cart adds up what a customer buys.
package cart

import "math"

// A Line is a product in the cart.
type Line struct {
	Name     string
	Price    float64 // of one piece, without tax
	Quantity int
	TaxRate  float64
}

// Total returns the price of the cart with tax.
func Total(lines []Line) float64 {
	sum := 0.0
	for _, l := range lines {
		sum += l.Price * float64(l.Quantity) * (1 + l.TaxRate)
	}
	return math.Round(sum*100) / 100
}

// FreeShipping reports whether the cart is shipped at no cost.
func FreeShipping(lines []Line) bool {
	return Total(lines) >= 50
}
