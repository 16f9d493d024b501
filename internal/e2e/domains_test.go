package e2e_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

const seaDomains = `domains:
  sea:
    description: Reports of ships and ports.
    keywords: [ship, captain, port of call, anchor]
    entities:
      ship: A vessel
      captain: Who commands it
    relationships:
      commands: {from: [captain], to: [ship]}
fallback: general
`

const voyage = `The captain of the ship Argo dropped anchor. Argo made Piraeus her next port of call.
Captain Jason met Medea there.
`

// read is what the contract says of the domain of a result.
type read struct {
	Document string `json:"document_id"`
	Prompt   string `json:"prompt_version"`
	Domain   struct {
		ID         string
		Confidence *float64
		Reason     string `json:"fallback_reason"`
	}
	Entities []struct{ Type string }
	Counters map[string]int
}

func (c client) read() []read {
	c.t.Helper()
	var all []read
	for _, msg := range c.all("WEIR_RESULTS") {
		var r read
		require.NoError(c.t, json.Unmarshal(msg.Data, &r))
		all = append(all, r)
	}
	return all
}

func TestDomainsAreShownAndChosen(t *testing.T) {
	t.Parallel()
	run := func(args ...string) done {
		return command{program: "worker", args: append([]string{"domains"}, args...)}.run(t)
	}
	builtin := run("show")
	require.Equal(t, 0, builtin.code, builtin)
	own := writeFile(t, "copy.yaml", builtin.out)
	require.Equal(t, builtin.out, run("show", "--domain-file", own).out, "what is shown can be used")

	sea, text := writeFile(t, "sea.yaml", seaDomains), writeFile(t, "voyage.txt", voyage)
	chosen := run("choose", "--json", "--domain-file", sea, text, writeFile(t, "letter.txt", letter))
	require.Equal(t, 0, chosen.code, chosen)
	var choices []struct {
		Source, ID string
		Confidence *float64
		Reason     string `json:"fallback_reason"`
	}
	require.NoError(t, json.Unmarshal([]byte(chosen.out), &choices))
	require.Len(t, choices, 2)
	require.Equal(t, "sea", choices[0].ID)
	require.Greater(t, *choices[0].Confidence, 0.6)
	require.Equal(t, "general", choices[1].ID)
	require.NotEmpty(t, choices[1].Reason)
	require.Contains(t, run("choose", "--domain-file", sea, text).out, "sea")

	broken := writeFile(t, "broken.yaml", strings.Replace(seaDomains, "to: [ship]", "to: [boat]", 1))
	for _, args := range [][]string{
		{"domains", "show", "--domain-file", broken}, {"domains", "choose", "--domain-file", broken, text},
		{"run", "--domain-file", broken}, {"try", "--domain-file", broken, text}, {"check", "--domain-file", broken},
	} {
		done := command{program: "worker", args: args, env: []string{"NATS_URL=nats://127.0.0.1:1"}}.run(t)
		require.Equal(t, 2, done.code, done)
		require.Contains(t, done.errOut, "broken.yaml:9: domains.sea.relationships.commands.to: names \"boat\"")
	}
	missing := command{program: "worker", args: []string{"try", text}, env: []string{"WEIR_DOMAIN_FILE=/nowhere/x.yaml"}}.run(t)
	require.Equal(t, 2, missing.code, missing)
	require.Contains(t, missing.errOut, "/nowhere/x.yaml")
}

// R36 over real processes: the prompt and the result are those of the domain that
// the publisher or the keywords chose, and that costs no call.
func TestR36DomainsOfAFleet(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	worker(t, url, model, "--domain-file", writeFile(t, "sea.yaml", seaDomains), "--strict-types")
	line := func(id, domain, text string) string {
		row, err := json.Marshal(map[string]string{"document_id": id, "domain": domain, "text": text})
		require.NoError(t, err)
		return string(row) + "\n"
	}
	lines := line("told", "Sea", letter) + line("found", "", voyage) + line("neither", "", letter) + line("unknown", "cooking", letter)
	published := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "all.jsonl", lines))
	require.Equal(t, 0, published.code, published)
	require.Equal(t, 4, model.Stats().Requests, "one call for a chunk")
	prompts := 0
	for _, r := range model.Records() {
		if strings.Contains(string(r.Body), "captain: Who commands it") {
			prompts++
		}
		require.Contains(t, letter+voyage, r.Text, "the chunk's text stays as it is")
	}
	require.Equal(t, 2, prompts)
	byID := map[string]read{}
	for _, r := range connect(t, url).read() {
		byID[r.Document] = r
	}
	require.Equal(t, "sea", byID["told"].Domain.ID)
	require.Empty(t, byID["told"].Domain.Reason)
	require.Equal(t, "sea", byID["found"].Domain.ID)
	require.Greater(t, *byID["found"].Domain.Confidence, 0.6)
	require.Regexp(t, `^graph-2\+sea-`, byID["found"].Prompt)
	require.Empty(t, byID["found"].Entities, "the model server's types are not of the sea")
	require.Positive(t, byID["found"].Counters["off_schema"])
	require.Equal(t, "general", byID["neither"].Domain.ID)
	require.Equal(t, "graph-1", byID["neither"].Prompt)
	require.NotEmpty(t, byID["neither"].Entities)
	require.Contains(t, byID["unknown"].Domain.Reason, `"cooking" is not known`)
}

// R36: a model that classifies is asked once for a document, and within the limit
// that its tenant has.
func TestR36TheModelClassifiesWithinTheLimit(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.Decide(func(r modelserver.Request) modelserver.Behaviour {
		if r.Schema == "document_domain" {
			return modelserver.Writes(`{"domain":"fiction","confidence":0.9}`)
		}
		return modelserver.Behaviour{}
	})
	const rpm, window = 6, time.Second
	worker(t, url, model, "--classify", "model", "--rpm", fmt.Sprint(rpm), "--window", window.String())
	long := strings.Repeat("Ada met Charles in a room. ", 24)
	published := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "30s", "--chunk-size", "150", "--chunk-overlap", "0", writeFile(t, "a.txt", long))
	require.Equal(t, 0, published.code, published)
	results := connect(t, url).read()
	require.Greater(t, len(results), 3)
	for _, r := range results {
		require.Equal(t, "fiction", r.Domain.ID, r.Domain.Reason)
	}
	require.Equal(t, len(results)+1, model.Stats().Requests, "one for a chunk, and one for the document")
	var lines strings.Builder
	for i := range 8 {
		fmt.Fprintf(&lines, "{\"text\":\"Ada met Charles %d times.\"}\n", i)
	}
	published = publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "40s", writeFile(t, "many.jsonl", lines.String()))
	require.Equal(t, 0, published.code, published)
	require.LessOrEqual(t, model.MaxInWindow(window, ""), rpm, "classifications count against the limit")
	for _, r := range connect(t, url).read() {
		if r.Domain.ID != "fiction" {
			require.Equal(t, "general", r.Domain.ID)
			require.NotEmpty(t, r.Domain.Reason)
		}
	}
}

// R36: a model that does not classify costs a document its domain and nothing
// else.
func TestR36AModelThatDoesNotClassify(t *testing.T) {
	fleetTest(t)
	for reason, does := range map[string]modelserver.Behaviour{
		"did not answer within 1s":             {Hang: true},
		"failed: model call failed: malformed": {}, // a graph, as for any other question
		"failed: exhausted 0 retries":          modelserver.Fails(503, "", "", "overloaded"),
		`answered "sports"`:                    modelserver.Writes(`{"domain":"sports","confidence":0.9}`),
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			url, model, patience := natsServer(t), modelServer(t), "15s"
			if does.Hang {
				patience = "1s"
			}
			model.Decide(func(r modelserver.Request) modelserver.Behaviour {
				if r.Schema == "document_domain" {
					return does
				}
				return modelserver.Behaviour{}
			})
			worker(t, url, model, "--classify", "model", "--classify-timeout", patience, "--max-retries", "0")
			published := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
			require.Equal(t, 0, published.code, published)
			results := connect(t, url).read()
			require.Len(t, results, 1)
			require.Equal(t, "general", results[0].Domain.ID)
			require.Contains(t, results[0].Domain.Reason, reason)
			require.NotEmpty(t, results[0].Entities)
			require.Equal(t, 2, model.Stats().Requests)
		})
	}
}
