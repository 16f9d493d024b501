package offline

// confidence is the share of names with such a lead that were right in place
// and type, over texts that the weights had not seen (README.md, Confidence).
func confidence(margin int) float64 {
	for _, c := range calibration {
		if margin >= c.lead {
			return c.right
		}
	}
	return 0.4
}

type step struct {
	lead  int
	right float64
}

var calibration = [...]step{{70, 0.9}, {50, 0.8}, {20, 0.7}, {10, 0.65}, {0, 0.5}}

// surelyNamed is the confidence from which a capital is believed in a title.
const surelyNamed = 0.7
