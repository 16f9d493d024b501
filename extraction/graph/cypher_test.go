package graph_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func TestCypherMergesByID(t *testing.T) {
	confidence := 1.0
	g := sample()
	g.Entities[0].Confidence = &confidence
	require.Equal(t, `// A graph for Neo4j 5: cypher-shell --file FILE. Running it again changes nothing.
CREATE CONSTRAINT weirkeeper_entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
:param rows => [{id: 'e1', set: {name: 'Ada Lovelace', type: 'person', aliases: [], description: '', confidence: 1.0, mentions: 1, documents: ['d'], quote: 'Ada Lovelace\r\n met him'}}, {id: 'e2', set: {name: 'Charles Babbage', type: 'person', aliases: [], description: '', confidence: null, mentions: 1, documents: ['d'], quote: ''}}];
UNWIND $rows AS row MERGE (n:Entity {id: row.id}) SET n:`+"`person`"+`, n += row.set;
:param rows => [{id: 'e3', set: {name: 'Ada Lovelace', type: 'program', aliases: [], description: '', confidence: null, mentions: 1, documents: ['d'], quote: 'the Ada'}}];
UNWIND $rows AS row MERGE (n:Entity {id: row.id}) SET n:`+"`program`"+`, n += row.set;
:param rows => [{id: 'r1', source: 'e1', target: 'e2', set: {type: 'met', description: '', confidence: null, mentions: 1, documents: ['d'], quote: 'met him'}}];
UNWIND $rows AS row MATCH (a:Entity {id: row.source}) MATCH (b:Entity {id: row.target}) MERGE (a)-[r:`+"`met`"+` {id: row.id}]->(b) SET r += row.set;
`, write(t, "cypher", g))
}

func TestCypherComesInBatches(t *testing.T) {
	var g extraction.Graph
	for i := range 1001 {
		g.Entities = append(g.Entities, extraction.GraphEntity{ID: fmt.Sprint(i), Name: "n", Type: "t"})
	}
	statements := readCypher(t, write(t, "cypher", g))
	require.Len(t, statements, 3)
	require.Len(t, statements[0].rows, 500)
	require.Len(t, statements[2].rows, 1)
}

func TestCypherHoldsHostileTexts(t *testing.T) {
	var names, types []string
	for _, s := range readCypher(t, write(t, "cypher", hostile())) {
		for _, row := range s.rows {
			set := row["set"].(map[string]any)
			if name, ok := set["name"]; ok {
				names = append(names, name.(string))
			} else {
				types = append(types, set["type"].(string))
			}
		}
	}
	var want []string
	for _, h := range hostileTexts {
		want = append(want, databaseText(h))
	}
	require.ElementsMatch(t, want, names)
	require.ElementsMatch(t, want, types)
	// What Neo4j would make a quote before it looks for the end of the literal.
	for _, escape := range []string{`\u0027`, `\\u0027`, `\\\u0027 }) DETACH DELETE n //`} {
		statements := readCypher(t, write(t, "cypher", one(escape, escape)))
		require.Equal(t, escape, statements[0].rows[0]["id"])
	}
}

// databaseText is what a database can hold of a text.
func databaseText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

type cypherStatement struct {
	label string
	rows  []map[string]any
}

var cypherTemplate = regexp.MustCompile("^UNWIND \\$rows AS row (?:MERGE \\(n:Entity {id: row\\.id}\\) SET n:`([\\p{L}\\p{N}\\p{M}_]+)`, n \\+= row\\.set|" +
	"MATCH \\(a:Entity {id: row\\.source}\\) MATCH \\(b:Entity {id: row\\.target}\\) MERGE \\(a\\)-\\[r:`([\\p{L}\\p{N}\\p{M}_]+)` {id: row\\.id}\\]->\\(b\\) SET r \\+= row\\.set);$")

// readCypher reads the output as cypher-shell does: a command ends with its
// line, and escapes of characters are undone before anything else.
func readCypher(t testing.TB, text string) []cypherStatement {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	require.GreaterOrEqual(t, len(lines), 2)
	require.True(t, strings.HasPrefix(lines[0], "// "))
	require.True(t, strings.HasPrefix(lines[1], "CREATE CONSTRAINT "))
	lines = lines[2:]
	require.Zero(t, len(lines)%2)
	var out []cypherStatement
	for i := 0; i < len(lines); i += 2 {
		expression, ok := strings.CutPrefix(lines[i], ":param rows => ")
		require.True(t, ok, lines[i])
		expression, ok = strings.CutSuffix(expression, ";")
		require.True(t, ok, lines[i])
		reader := cypherReader{t: t, rest: unescapeCypher(t, expression)}
		value := reader.value()
		require.Empty(t, reader.rest)
		template := cypherTemplate.FindStringSubmatch(lines[i+1])
		require.NotNil(t, template, lines[i+1])
		s := cypherStatement{label: template[1] + template[2]}
		for _, row := range value.([]any) {
			s.rows = append(s.rows, row.(map[string]any))
		}
		out = append(out, s)
	}
	return out
}

// unescapeCypher does what Neo4j's parser does with \uXXXX, anywhere in a
// statement, unless the backslash is escaped itself.
func unescapeCypher(t testing.TB, s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] != '\\':
			b.WriteByte(s[i])
		case s[i+1] == 'u':
			code, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
			require.NoError(t, err)
			b.WriteRune(rune(code))
			i += 5
		default:
			b.WriteString(s[i : i+2])
			i++
		}
	}
	return b.String()
}

// cypherReader reads the literals that we write.
type cypherReader struct {
	t    testing.TB
	rest string
}

func (r *cypherReader) take(prefix string) bool {
	rest, ok := strings.CutPrefix(r.rest, prefix)
	r.rest = rest
	return ok
}

func (r *cypherReader) value() any {
	switch {
	case r.take("'"):
		return r.text()
	case r.take("["):
		list := []any{}
		for !r.take("]") {
			require.True(r.t, len(list) == 0 || r.take(", "), r.rest)
			list = append(list, r.value())
		}
		return list
	case r.take("{"):
		object := map[string]any{}
		for !r.take("}") {
			require.True(r.t, len(object) == 0 || r.take(", "), r.rest)
			key := regexp.MustCompile(`^[a-z]+: `).FindString(r.rest)
			require.NotEmpty(r.t, key, r.rest)
			r.take(key)
			object[strings.TrimSuffix(key, ": ")] = r.value()
		}
		return object
	case r.take("null"):
		return nil
	}
	number := regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?`).FindString(r.rest)
	require.NotEmpty(r.t, number, r.rest)
	r.take(number)
	return number
}

func (r *cypherReader) text() string {
	var b strings.Builder
	for {
		c, n := utf8.DecodeRuneInString(r.rest)
		require.NotZero(r.t, n, "the literal has no end")
		r.rest = r.rest[n:]
		switch c {
		case '\'':
			return b.String()
		case '\\':
			escaped, ok := map[byte]string{'\\': `\`, '\'': `'`, 'n': "\n", 'r': "\r", 't': "\t"}[r.rest[0]]
			require.True(r.t, ok, r.rest)
			b.WriteString(escaped)
			r.rest = r.rest[1:]
		default:
			b.WriteRune(c)
		}
	}
}
