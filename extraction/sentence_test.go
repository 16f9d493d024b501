package extraction_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where a sentence names one end only, the other may have been named before and left out
// since, but not if the sentence begins with a third, which says what that does.
func TestASentenceAboutAnotherIsNoEvidence(t *testing.T) {
	text := "Acme bought Beta. Gamma sued Delta. Delta lost a lot. In 2020 followed Delta. The Gamma Group left Delta. Big Delta shone.\n\n" +
		"阿里集团收购了贝塔。伽马起诉德尔塔。后来投资德尔塔。"
	d := drafted("Acme", "company", "", "Beta", "company", "", "Gamma", "company", "", "Gamma Group", "company", "", "Delta", "company", "",
		"阿里集团", "company", "", "伽马", "company", "", "德尔塔", "company", "")
	for _, c := range []struct {
		source, target, quote string
		evidence              bool
	}{
		{"Gamma", "Delta", "sued Delta", true},
		{"Acme", "Delta", "sued Delta", false},
		{"Delta", "Acme", "Gamma sued Delta.", false},
		{"Acme", "Delta", "The Gamma Group left Delta", false},
		{"Beta", "Delta", "In 2020 followed Delta", true},
		{"Gamma", "Delta", "Delta lost a lot", true},
		{"Gamma", "Delta", "Big Delta shone", true},
		{"阿里集团", "德尔塔", "伽马起诉德尔塔", false},
		{"阿里集团", "德尔塔", "后来投资德尔塔", true},
	} {
		_, relationships, _ := ground(t, text, related(d, c.source, "sued", c.target, c.quote))
		require.Equal(t, c.evidence, relationships[0].Evidence != nil, "%s, %s: %q", c.source, c.target, c.quote)
	}
}
