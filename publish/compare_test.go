package publish_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// found is an extraction with these people, each of whom knows the first.
func found(model string, people ...string) extraction.Extraction {
	x := extraction.Extraction{Model: model, PromptVersion: "p-" + model}
	for _, name := range people {
		x.Entities = append(x.Entities, extraction.Entity{ID: extraction.EntityID("acme co.", name, "person"), Name: name, Type: "person"})
		if first := x.Entities[0]; name != people[0] {
			last := x.Entities[len(x.Entities)-1]
			x.Relationships = append(x.Relationships, extraction.Relationship{
				ID: extraction.RelationshipID("acme co.", last.ID, "knows", first.ID), SourceID: last.ID, TargetID: first.ID, Type: "knows",
			})
		}
	}
	return x
}

// publishRun sends a document in a run and answers its chunks as the fleet does.
func (f *fleet) publishRun(run, document, text string, answers ...extraction.Extraction) {
	f.t.Helper()
	f.publishSplit(40, 5, run, document, "a.txt", text, answers...)
}

func (f *fleet) publishSplit(size, overlap int, run, document, name, text string, answers ...extraction.Extraction) {
	f.t.Helper()
	splitter, err := extraction.NewSplitter(size, overlap)
	require.NoError(f.t, err)
	plan, err := publish.NewPlan(publish.PlanConfig{Names: f.names, Tenant: "acme co.", Splitter: splitter, DocumentID: document, Run: run}, []publish.Source{file(f.t, name, text)})
	require.NoError(f.t, err)
	publisher := f.publisher(plan)
	require.NoError(f.t, publisher.Send(f.t.Context()))
	for i, msg := range f.take(100) {
		if i < len(answers) {
			f.finish(msg, answers[i])
		} else {
			f.bury(msg, "refused")
		}
	}
}

// Chunks of different sizes are not compared as if they were the same.
func TestDocumentsThatWereSplitDifferentlyAreNotCompared(t *testing.T) {
	f := newFleet(t)
	text := "Ada met Bob in the city. Cy met Dee in the town. Eve met Fay in the park."
	f.publishRun("", "d", text, found("old", "Ada"), found("old", "Cy"), found("old", "Eve"))
	f.publishRun("b", "d", "Ada met Bob in the city.", found("new", "Ada"))
	f.publishRun("", "e", "Ada met Bob.", found("old", "Ada"))
	f.publishRun("b", "e", "Ada met Bob.", found("new", "Ada"))
	c, err := f.reader().Compare(t.Context(), "", "b")
	require.NoError(t, err)
	require.Equal(t, []string{"d"}, c.SplitDifferently)
	require.Equal(t, 1, c.Chunks)
	require.Zero(t, c.From.ChunksOnlyHere)
	require.Empty(t, c.Entities.Disappeared)
}

// Nor are as many chunks that were cut elsewhere, in a text or in a page.
func TestAsManyChunksThatWereCutElsewhereAreNotCompared(t *testing.T) {
	f := newFleet(t)
	const text = "Ada met Bob in the city. Cy met Dee in the town. Eve met Fay in the park."
	for name, content := range map[string]string{"a.txt": text, "a.html": "<p hidden>No.</p><p>" + text} {
		f.publishSplit(40, 5, "", name, name, content, found("old", "Ada"), found("old", "Cy"), found("old", "Eve"))
		f.publishSplit(35, 2, "b", name, name, content, found("new", "Ada"), found("new", "Cy"), found("new", "Eve"))
		f.publishSplit(40, 5, "c", name, name, content, found("new", "Ada"), found("new", "Cy"), found("new", "Eve"))
	}
	parts, err := f.reader().RunParts(t.Context(), "b")
	require.NoError(t, err)
	require.Len(t, parts, 6, "as many chunks as in the first run")
	c, err := f.reader().Compare(t.Context(), "", "b")
	require.NoError(t, err)
	require.Equal(t, []string{"a.html", "a.txt"}, c.SplitDifferently)
	require.Zero(t, c.Chunks)
	c, err = f.reader().Compare(t.Context(), "", "c")
	require.NoError(t, err)
	require.Empty(t, c.SplitDifferently)
	require.Equal(t, 6, c.Chunks)
}

// Two runs over the same text stay apart, and what the second lost is shown.
func TestRunsAreKeptApartAndCompared(t *testing.T) {
	f := newFleet(t)
	f.publishRun("", "d", "Ada met Bob.", found("old", "Ada", "Bob"))
	f.publishRun("b", "d", "Ada met Bob.", found("new", "Ada", "Cy"))
	f.publishRun("b", "only in b", "Zoe.", found("new", "Zoe"))

	plain, err := f.reader().Parts(t.Context())
	require.NoError(t, err)
	require.Len(t, plain, 1, "a run does not mix with what was published without one")
	require.Equal(t, "old", plain[0].Extraction.Model)
	run, err := f.reader().RunParts(t.Context(), "b")
	require.NoError(t, err)
	require.Len(t, run, 2)
	named, err := f.reader().Parts(t.Context(), wire.RunDocument("d", "b"))
	require.NoError(t, err)
	require.Len(t, named, 1, "a document may be named with its run")

	c, err := f.reader().Compare(t.Context(), "", "b")
	require.NoError(t, err)
	require.Equal(t, publish.RunSummary{Models: []string{"old"}, Prompts: []string{"p-old"}}, c.From)
	require.Equal(t, publish.RunSummary{Run: "b", Models: []string{"new"}, Prompts: []string{"p-new"}, ChunksOnlyHere: 1}, c.To)
	require.Equal(t, 1, c.Chunks)
	require.Equal(t, 1, c.Documents)
	require.Equal(t, 1, c.Entities.Kept, "Ada has one id in all runs")
	require.Equal(t, "Bob", c.Entities.Disappeared[0].Name)
	require.Equal(t, "Cy", c.Entities.Appeared[0].Name)
	require.Len(t, c.Relationships.Disappeared, 1)
	require.Len(t, c.Relationships.Appeared, 1)
	require.Zero(t, c.Relationships.Kept)

	status, err := f.reader().Status(t.Context())
	require.NoError(t, err)
	require.Len(t, status.Documents, 3)
}

// What a run has not done has not disappeared.
func TestOnlyChunksOfBothRunsAreCompared(t *testing.T) {
	f := newFleet(t)
	f.publishRun("a", "d", sentences(2), found("m", "Ada"), found("m", "Bob"), found("m", "Cy"))
	f.publishRun("b", "d", sentences(2), found("m", "Ada"))
	c, err := f.reader().Compare(t.Context(), "a", "b", "d")
	require.NoError(t, err)
	require.Equal(t, 1, c.Chunks)
	require.Positive(t, c.From.ChunksOnlyHere)
	require.Zero(t, c.To.ChunksOnlyHere)
	require.Empty(t, c.Entities.Disappeared)
	require.Equal(t, 1, c.Entities.Kept)
}

// Any client can publish in a run: it is a part of the document's id.
func TestARunIsPartOfTheDocumentID(t *testing.T) {
	f := newFleet(t)
	msg := nats.NewMsg(f.names.ChunkSubject("acme co."))
	msg.Data = []byte(`{"document_id":"d@run=b","text":"Ada."}`)
	_, err := f.js.PublishMsg(t.Context(), msg)
	require.NoError(t, err)
	f.finish(f.take(1)[0], found("m", "Ada"))
	parts, err := f.reader().RunParts(t.Context(), "b", "d")
	require.NoError(t, err)
	require.Len(t, parts, 1)
}

func TestPlanRefusesWhatIsNoRun(t *testing.T) {
	splitter, err := extraction.NewSplitter(40, 5)
	require.NoError(t, err)
	_, err = publish.NewPlan(publish.PlanConfig{Tenant: "t", Splitter: splitter, Run: "a.b"}, nil)
	require.ErrorContains(t, err, "run")
}
