package publish_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

func rewrite(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func planConfig(t *testing.T) publish.PlanConfig {
	t.Helper()
	names, err := wire.NewNames("")
	require.NoError(t, err)
	splitter, err := extraction.NewSplitter(extraction.DefaultChunkSize, extraction.DefaultChunkOverlap)
	require.NoError(t, err)
	return publish.PlanConfig{Names: names, Tenant: "acme", Splitter: splitter}
}

func TestPlanCountsWithoutAServer(t *testing.T) {
	plan, err := publish.NewPlan(planConfig(t), []publish.Source{
		file(t, "a.txt", strings.Repeat("Ada met Charles. ", 400)),
		file(t, "b.jsonl", "{\"text\":\"One.\"}\n{\"text\":\"Two.\"}"),
	})
	require.NoError(t, err)
	require.Len(t, plan.Documents, 3)
	require.Equal(t, extraction.DocumentID("One."), plan.Documents[1].ID)
	require.Equal(t, 2, plan.Documents[2].Line)
	require.Equal(t, plan.Chunks, plan.Documents[0].Chunks+2)
	require.Greater(t, plan.Documents[0].Chunks, 1)
}

func TestPlanReportsEveryBadSourceAtOnce(t *testing.T) {
	_, err := publish.NewPlan(planConfig(t), []publish.Source{
		file(t, "good.txt", "Ada."), file(t, "latin.txt", "caf\xe9"), file(t, "blank.md", " \n"),
	})
	require.ErrorContains(t, err, "latin.txt:1: byte 3: not UTF-8")
	require.ErrorContains(t, err, "blank.md: blank")
	var input *publish.InputError
	require.ErrorAs(t, err, &input)
}

func TestPlanRefusesChunksThatDoNotFitTheServer(t *testing.T) {
	config := planConfig(t)
	config.Splitter, _ = extraction.NewSplitter(3<<20, 0)
	path := write(t, "big.txt", strings.Repeat("Ada met Charles. ", 120_000)) // 2 MB
	source, err := openFile(t, path)
	require.NoError(t, err)
	_, err = publish.NewPlan(config, []publish.Source{source})
	var input *publish.InputError
	require.ErrorAs(t, err, &input)
	require.Equal(t, path, input.Source)
	require.Equal(t, int64(0), input.Offset)
	require.ErrorContains(t, err, "max_payload")
	require.ErrorContains(t, err, "smaller chunk size")

	config.MaxPayload = 4 << 20
	plan, err := publish.NewPlan(config, []publish.Source{source})
	require.NoError(t, err)
	require.Equal(t, 1, plan.Chunks)
}

func TestPlanKeepsDocumentsApart(t *testing.T) {
	config := planConfig(t)
	_, err := publish.NewPlan(config, []publish.Source{file(t, "a.jsonl", "{\"document_id\":\"d\",\"text\":\"One.\"}\n\n{\"document_id\":\"d\",\"text\":\"Two.\"}")})
	require.ErrorContains(t, err, "a.jsonl:3")
	require.ErrorContains(t, err, "a.jsonl:1")

	plan, err := publish.NewPlan(config, []publish.Source{file(t, "a.txt", "Same."), file(t, "b.txt", "Same.")})
	require.NoError(t, err)
	require.Len(t, plan.Documents, 1)
	require.Equal(t, 1, plan.Same)
	require.Len(t, plan.Notes, 1)
	require.Regexp(t, `b\.txt: same text as .*a\.txt, sent once$`, plan.Notes[0])

	config.DocumentID = "d"
	_, err = publish.NewPlan(config, []publish.Source{file(t, "a.txt", "One."), file(t, "b.txt", "Two.")})
	require.Error(t, err)
}

func TestPlanNamesTheWrongArgument(t *testing.T) {
	for argument, change := range map[string]func(*publish.PlanConfig){
		"tenant":      func(c *publish.PlanConfig) { c.Tenant = "" },
		"splitter":    func(c *publish.PlanConfig) { c.Splitter = nil },
		"max payload": func(c *publish.PlanConfig) { c.MaxPayload = -1 },
	} {
		config := planConfig(t)
		change(&config)
		_, err := publish.NewPlan(config, nil)
		var wrong *publish.ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, argument, wrong.Argument)
	}
	config := planConfig(t)
	config.Tenant = strings.Repeat("x", 600)
	_, err := publish.NewPlan(config, nil)
	require.Error(t, err)
	config.DocumentID, config.Tenant = strings.Repeat("x", 600), "acme"
	_, err = publish.NewPlan(config, []publish.Source{file(t, "a.txt", "One.")})
	require.ErrorContains(t, err, "document_id")
}
