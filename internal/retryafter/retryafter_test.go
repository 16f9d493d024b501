package retryafter_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/retryafter"
)

func TestA22Parse(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for name, tc := range map[string]struct {
		header map[string]string
		want   time.Duration
		ok     bool
	}{
		"none":                      {nil, 0, false},
		"seconds":                   {map[string]string{"Retry-After": "7"}, 7 * time.Second, true},
		"zero":                      {map[string]string{"Retry-After": "0"}, 0, true},
		"fraction":                  {map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond, true},
		"small fraction":            {map[string]string{"Retry-After": ".25"}, 250 * time.Millisecond, true},
		"spaces":                    {map[string]string{"Retry-After": "  3 "}, 3 * time.Second, true},
		"milliseconds":              {map[string]string{"Retry-After-Ms": "1234"}, 1234 * time.Millisecond, true},
		"milliseconds win":          {map[string]string{"Retry-After-Ms": "10", "Retry-After": "1"}, 10 * time.Millisecond, true},
		"bad milliseconds, seconds": {map[string]string{"Retry-After-Ms": "soon", "Retry-After": "1"}, time.Second, true},
		"date":                      {map[string]string{"Retry-After": date(90 * time.Second)}, 90 * time.Second, true},
		"date of a past":            {map[string]string{"Retry-After": date(-time.Hour)}, 0, true},
		"date against the server's": {map[string]string{"Retry-After": date(90 * time.Second), "Date": date(60 * time.Second)}, 30 * time.Second, true},
		"date and a broken one":     {map[string]string{"Retry-After": date(90 * time.Second), "Date": "today"}, 90 * time.Second, true},
		"far date is cut":           {map[string]string{"Retry-After": date(8760 * time.Hour)}, retryafter.Max, true},
		"many seconds are cut":      {map[string]string{"Retry-After": "99999999999999999999"}, retryafter.Max, true},
		"more than float64 is cut":  {map[string]string{"Retry-After-Ms": "1" + strings.Repeat("0", 400)}, retryafter.Max, true},
		"negative":                  {map[string]string{"Retry-After": "-1"}, 0, false},
		"signed":                    {map[string]string{"Retry-After": "+1"}, 0, false},
		"exponent":                  {map[string]string{"Retry-After": "1e3"}, 0, false},
		"hexadecimal":               {map[string]string{"Retry-After": "0x10"}, 0, false},
		"not a number":              {map[string]string{"Retry-After": "NaN"}, 0, false},
		"infinity":                  {map[string]string{"Retry-After": "Inf"}, 0, false},
		"two dots":                  {map[string]string{"Retry-After": "1.2.3"}, 0, false},
		"a dot":                     {map[string]string{"Retry-After": "."}, 0, false},
		"a unit":                    {map[string]string{"Retry-After": "5s"}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			h := http.Header{}
			for k, v := range tc.header {
				h.Set(k, v)
			}
			got, ok := retryafter.Parse(h, now)
			require.Equal(t, tc.ok, ok)
			require.Equal(t, tc.want, got)
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "1", "0.5", "-1", "1e400", "0x1p-2", "NaN", "99999999999", "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Fri, 31 Dec 9999 23:59:59 GMT", "1_000", "١"} {
		f.Add(s, s, "")
		f.Add(s, "", "Sun, 06 Nov 1994 08:49:37 GMT")
	}
	f.Fuzz(func(t *testing.T, seconds, millis, date string) {
		h := http.Header{"Retry-After": {seconds}, "Retry-After-Ms": {millis}, "Date": {date}}
		d, ok := retryafter.Parse(h, time.Unix(1_700_000_000, 0))
		if d < 0 || d > retryafter.Max || (!ok && d != 0) {
			t.Fatalf("%q %q %q: %v %v", seconds, millis, date, d, ok)
		}
	})
}
