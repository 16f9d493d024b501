package extraction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const nothing = `{"entities":[],"relationships":[]}`

func entityRow(name string) string {
	return fmt.Sprintf(`{"name":%q,"type":"thing","description":"d","confidence":0.5,"quote":%q}`, name, name)
}

func answer(entities, relationships string) string {
	return `{"entities":[` + entities + `],"relationships":[` + relationships + `]}`
}

func parse(t testing.TB, content string) extraction.Draft {
	t.Helper()
	d, err := extraction.Parse(content)
	require.NoError(t, err)
	return d
}

func names(d extraction.Draft) []string {
	out := []string{}
	for _, e := range d.Entities {
		out = append(out, e.Name)
	}
	return out
}

func TestParseReadsEveryField(t *testing.T) {
	d := parse(t, answer(
		`{"name":"Ada \"L\"","type":"Human Being","description":"wrote\nit","confidence":0.75,"quote":"Ada \u00e9"}`,
		`{"source":"Ada","target":"Engine","type":"worksOn","description":"x","confidence":null,"quote":"q"}`))
	c := 0.75
	require.Equal(t, extraction.Draft{
		Entities:      []extraction.DraftEntity{{Name: `Ada "L"`, Type: "human_being", Description: "wrote it", Quote: "Ada é", Confidence: &c}},
		Relationships: []extraction.DraftRelationship{{Source: "Ada", Target: "Engine", Type: "works_on", Description: "x", Quote: "q"}},
	}, d)
}

// A text without entities gives a valid empty result, not an error.
func TestNothingFoundIsAFinding(t *testing.T) {
	for _, content := range []string{nothing, " \n" + nothing + "\n", `{ "relationships" : [ ] , "entities" : [ ] }`} {
		require.Equal(t, extraction.Draft{}, parse(t, content), content)
	}
}

// R31, R34: what is not the JSON asked for is malformed, with the schema's name
// and the cause.
func TestWhatIsNotTheJSONAskedForIsMalformed(t *testing.T) {
	for content, cause := range map[string]string{
		"I am sorry, but here is what I found: Ada met Charles.": "prose", // llama.cpp#24097
		"Here you are:\n```json\n" + nothing + "\n```":           "prose",
		nothing + "\nI hope this helps!":                         "broken JSON at byte 36",
		nothing + nothing:                                        "broken JSON at byte 35",
		`[]`:                                                     "a list",
		`[` + nothing + `]`:                                      "a list",
		`"text"`:                                                 "a string",
		`3`:                                                      "a number",
		`true`:                                                   "a boolean",
		`{}`:                                                     "entities is missing",
		`{"entities":[]}`:                                        "relationships is missing",
		`{"relationships":[]}`:                                   "entities is missing",
		`{"entities":null,"relationships":[]}`:                   "entities is null",
		`{"entities":[],"relationships":{}}`:                     "relationships is an object",
		`{"entities":[],"relationships":[]`:                      "broken JSON",
		`{"entities":[{"name":"A"`:                               "broken JSON",
		`{'entities':[],'relationships':[]}`:                     "broken JSON",
		`{"entities":[],"relationships":[],}`:                    "broken JSON",
		`{"entities":[{"name":NaN}],"relationships":[]}`: "broken JSON",
		"```json\n" + nothing:                            "prose",
		"```js\nreturn " + nothing + "\n```":             "prose",
		"```js\n" + nothing + nothing + "\n```":          "broken JSON",
		"```json\n[" + nothing + "]\n```":                "a list",
		"```json```":                                     "prose",
		"<think>hm":                                      "prose",
		"<html><body>502</body></html>":                  "prose",
		"{\"entities\":[\xff],\"relationships\":[]}":     "not UTF-8 at byte 13",
		strings.Repeat("[", 100_000):                     "broken JSON",
	} {
		_, err := extraction.Parse(content)
		require.ErrorIs(t, err, extraction.ErrMalformed, "%.80s", content)
		var e *extraction.ProviderError
		require.ErrorAs(t, err, &e)
		require.Equal(t, extraction.SchemaName, e.Schema)
		require.ErrorContains(t, err, cause, "%.80s", content)
		require.ErrorContains(t, err, extraction.SchemaName)
		require.Less(t, len(err.Error()), 200, "an error must not carry the answer")
	}
}

// langextract PR#521: a trailing comma is a failure with a cause, not an empty
// result and not a salvaged one.
func TestATrailingCommaIsMalformed(t *testing.T) {
	_, err := extraction.Parse(answer(entityRow("A")+",", ""))
	require.ErrorIs(t, err, extraction.ErrMalformed)
	var syntax *json.SyntaxError
	require.ErrorAs(t, err, &syntax, "the cause is kept")
}

// encoding/json by itself takes null for a string or a whole answer, keys in any case, and
// the last of two that are equal.
func TestTheAnswerIsReadByItsLetters(t *testing.T) {
	for content, cause := range map[string]string{
		`null`:                               "null",
		`{"Entities":[],"Relationships":[]}`: "entities is missing",
		`{"entities":[],"entities":[],"relationships":[]}`: "entities is there twice",
	} {
		_, err := extraction.Parse(content)
		require.ErrorIs(t, err, extraction.ErrMalformed, content)
		require.ErrorContains(t, err, cause)
	}
	d := parse(t, answer(`{"name":null,"type":"x"},{"name":"A","name":"B","type":"x"},{"Name":"C","type":"x"},{"name":"D","TYPE":"x"},`+entityRow("E"), ""))
	require.Equal(t, []string{"E"}, names(d))
	require.Equal(t, 4, d.Counters.Dropped)
}

// R31, R34: no content at all is its own kind (graphrag, vllm#16182).
func TestNoContentAtAllIsEmpty(t *testing.T) {
	for _, content := range []string{"", " \n\t", "<think>it must be Ada</think>", "<think>\n</think>\n"} {
		_, err := extraction.Parse(content)
		require.ErrorIs(t, err, extraction.ErrEmpty, "%q", content)
	}
}

// LightRAG#2007: reasoning before the answer, with or without its opening tag.
func TestReasoningBeforeTheAnswerIsTakenOff(t *testing.T) {
	for _, content := range []string{
		"hmm</think>" + answer(entityRow("A"), ""),
		"<think>I close with </think> later </think> now</think>\n" + answer(entityRow("A"), ""),
		"\uFEFF" + answer(entityRow("A"), ""),
		"<think>\nLet me {see}.\n</think>\n\n" + answer(entityRow("A"), ""),
	} {
		d := parse(t, content)
		require.Equal(t, []string{"A"}, names(d))
		require.Equal(t, 1, d.Counters.Repaired, "a repair is counted")
	}
	// The tag is an ordinary word inside the answer.
	d := parse(t, answer(entityRow("</think>"), ""))
	require.Equal(t, []string{"</think>"}, names(d))
	require.Zero(t, d.Counters.Repaired)
	// Broken JSON is not searched for something that looks like an answer.
	_, err := extraction.Parse(`{"entities":[{"name":"</think>` + nothing)
	require.ErrorIs(t, err, extraction.ErrMalformed)
}

func TestACodeFenceIsTakenOff(t *testing.T) {
	for _, content := range []string{
		"```json\n" + answer(entityRow("A"), "") + "\n```",
		"```\n" + answer(entityRow("A"), "") + "\n```\n",
		"```JSON" + answer(entityRow("A"), "") + "```",
		"```JSON5\n" + answer(entityRow("A"), "") + "\n```",
		"```jsonc \r\n" + answer(entityRow("A"), "") + "\n```",
		"```js" + answer(entityRow("A"), "") + "```",
		"```application/json\n" + answer(entityRow("A"), "") + "\n```",
	} {
		d := parse(t, content)
		require.Equal(t, []string{"A"}, names(d), content)
		require.Equal(t, 1, d.Counters.Repaired)
	}
	d := parse(t, "<think>x</think>```json\n"+answer(entityRow("```"), "")+"\n```")
	require.Equal(t, []string{"```"}, names(d))
	require.Equal(t, 2, d.Counters.Repaired)
}

// One bad row costs that row, and is counted.
func TestABadRowCostsOnlyItself(t *testing.T) {
	good := entityRow("B")
	for _, bad := range []string{
		`{"name":null}`, `{"name":null,"type":"t"}`, `{"type":"t"}`, `{"name":"","type":"t"}`, `{"name":" \n","type":"t"}`,
		`{"name":"\u200b","type":"t"}`, `{"name":"A"}`, `{"name":"A","type":null}`, `{"name":"A","type":"--"}`,
		`{"name":7,"type":"t"}`, `{"name":["A"],"type":"t"}`, `{"name":"A","type":"t","description":3}`,
		`{"name":"A","type":"t","quote":{}}`, `"A"`, `null`, `7`, `[]`, `["A","t"]`, `{}`,
		`{"Name":"A","type":"t"}`, `{"name":"A","NAME":"B","Type":"t"}`,
		`{"name":"A","name":"B","type":"t"}`, `{"name":"A","type":"t","type":"t"}`, `{"name":"A","type":"t","quote":"a","quote":"b"}`,
		`{"name":"A","type":"t","confidence":1,"confidence":7}`,
	} {
		d := parse(t, answer(bad+","+good, ""))
		require.Equal(t, []string{"B"}, names(d), bad)
		require.Equal(t, extraction.Counters{Dropped: 1}, d.Counters, bad)
	}
	for _, bad := range []string{
		`{"source":null,"target":"B","type":"t"}`, `{"source":"A","type":"t"}`, `{"source":"A","target":"B"}`,
		`{"source":"A","target":"B","type":1}`, `["A","t","B"]`, `"A"`, `{"source":"A","source":"C","target":"B","type":"t"}`,
	} {
		d := parse(t, answer(good, bad+`,{"source":"A","target":"B","type":"t"}`))
		require.Len(t, d.Relationships, 1, bad)
		require.Equal(t, extraction.Counters{Dropped: 1}, d.Counters, bad)
	}
}

func TestParseTakesMissingTextsAndUnknownKeys(t *testing.T) {
	d := parse(t, `{"note":"x","entities":[{"name":"A","type":"t","aliases":["a",{"b":[1]}],"quote":null}],"relationships":[],"done":true}`)
	require.Equal(t, []extraction.DraftEntity{{Name: "A", Type: "t"}}, d.Entities)
	require.Equal(t, extraction.Counters{}, d.Counters)
}

func TestParseConfidence(t *testing.T) {
	for raw, want := range map[string]float64{"0": 0, "1": 1, "0.5": 0.5, "1e-2": 0.01, "-0": 0} {
		d := parse(t, answer(`{"name":"A","type":"t","confidence":`+raw+`}`, ""))
		require.Equal(t, want, *d.Entities[0].Confidence, raw)
		out, err := json.Marshal(d.Entities[0].Confidence)
		require.NoError(t, err)
		require.NotContains(t, string(out), "-")
	}
	for raw, repaired := range map[string]int{"null": 0, "1.01": 1, "-0.1": 1, "95": 1, "1e999": 1, `"0.9"`: 1, `"high"`: 1, "true": 1, "[1]": 1, "{}": 1} {
		d := parse(t, answer(`{"name":"A","type":"t","confidence":`+raw+`}`, ""))
		require.Nil(t, d.Entities[0].Confidence, raw)
		require.Equal(t, repaired, d.Counters.Repaired, raw)
	}
}

// LightRAG PR#2245: 3 kB names.
func TestHugeNamesAreClipped(t *testing.T) {
	for _, r := range []string{"x", "漢", "👩"} {
		huge := strings.Repeat(r, 3000)
		d := parse(t, answer(
			`{"name":"`+huge+`","type":"`+huge+`","description":"`+huge+`","quote":"`+huge+`"}`,
			`{"source":"`+huge+`","target":"B","type":"t"}`))
		if r == "👩" { // not a letter: no type is left
			require.Empty(t, d.Entities)
			require.Equal(t, 1, d.Counters.Dropped)
			require.Equal(t, 1, d.Counters.Clipped)
			continue
		}
		e := d.Entities[0]
		require.Equal(t, strings.Repeat(r, 256), e.Name)
		require.Equal(t, strings.Repeat(r, 64), e.Type)
		require.Equal(t, 1024, utf8.RuneCountInString(e.Description))
		require.Equal(t, e.Name, d.Relationships[0].Source, "both are cut alike, so that they still meet")
		require.Equal(t, extraction.Counters{Clipped: 4}, d.Counters)
	}
}

func TestParseNamesStandOnOneLine(t *testing.T) {
	d := parse(t, answer(`{"name":" Ada\r\n\u0000 Lovelace\u001b[31m","type":"t"}`, ""))
	require.Equal(t, []string{"Ada Lovelace [31m"}, names(d))
}

// R33: the schema is one OpenAI's strict mode takes: every property required,
// none added, at every level.
func TestSchemaIsStrict(t *testing.T) {
	schema := extraction.AnswerSchema()
	require.Equal(t, extraction.SchemaName, schema.Name)
	var root map[string]any
	require.NoError(t, json.Unmarshal(schema.JSON, &root))
	var objects int
	var walk func(node map[string]any)
	walk = func(node map[string]any) {
		if items, ok := node["items"].(map[string]any); ok {
			walk(items)
		}
		properties, ok := node["properties"].(map[string]any)
		if !ok {
			return
		}
		objects++
		require.Equal(t, "object", node["type"])
		require.Equal(t, false, node["additionalProperties"])
		require.Len(t, node["required"], len(properties))
		for _, name := range node["required"].([]any) {
			walk(properties[name.(string)].(map[string]any))
		}
	}
	walk(root)
	require.Equal(t, 3, objects)
	for _, word := range []string{"entities", "relationships", "name", "type", "description", "confidence", "quote", "source", "target"} {
		require.Contains(t, string(schema.JSON), `"`+word+`":`)
		require.Contains(t, extraction.SystemPrompt, `"`+word+`"`, "the prompt must carry a server that ignores the schema")
	}
}

// A prompt without its version changed would mix results that cannot be told apart.
func TestPromptVersionNamesThePrompt(t *testing.T) {
	require.Equal(t, map[string]string{"graph-1": "3198068ca91fe8229e826135fd7f79b32a9c34b89b7eeff5a79516f7bb0baf51"},
		map[string]string{extraction.PromptVersion: extraction.TextSHA256(extraction.SystemPrompt)},
		"the prompt changed: give it a new version")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		nothing, "", "null", "[]", "{}", "```json\n" + nothing + "\n```", "a</think>" + nothing, "\v\u00a0" + nothing + "\v",
		answer(entityRow("A"), `{"source":"A","target":"\ud800\"\\","type":"t","confidence":1e999}`),
		`{"entities":[{"name":null},7,[1,{"a":"]"}]],"relationships":[{}],"x":{"y":[{}]}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		d, err := extraction.Parse(content)
		if err != nil {
			var e *extraction.ProviderError
			require.ErrorAs(t, err, &e)
			require.Contains(t, []extraction.Kind{extraction.KindMalformed, extraction.KindEmpty}, e.Kind)
			return
		}
		for _, e := range d.Entities {
			require.NotEmpty(t, extraction.NormalizeName(e.Name))
			require.NotEmpty(t, e.Type)
			require.LessOrEqual(t, utf8.RuneCountInString(e.Name), extraction.MaxNameRunes)
			require.True(t, utf8.ValidString(e.Name+e.Type+e.Description+e.Quote))
		}
		// What encoding/json reads, row for row, is what was walked, less white space of any kind
		// around it.
		if d.Counters.Repaired == 0 {
			var root map[string]json.RawMessage
			var entities, relationships []json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(strings.TrimSpace(content)), &root))
			require.NoError(t, json.Unmarshal(root["entities"], &entities))
			require.NoError(t, json.Unmarshal(root["relationships"], &relationships))
			require.Equal(t, len(entities)+len(relationships), len(d.Entities)+len(d.Relationships)+d.Counters.Dropped)
		}
	})
}
