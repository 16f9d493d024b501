package extraction

import "encoding/json"

// SchemaName names the schema of a model's answer, on the wire and in errors.
const SchemaName = "knowledge_graph"

// AnswerSchema is what a model is asked for. It keeps to what OpenAI's strict
// mode accepts: every property is required, none may be added, and what may be
// missing is null. It is written by hand because generated schemas do not.
func AnswerSchema() Schema {
	return Schema{Name: SchemaName, JSON: json.RawMessage(answerSchema)}
}

const answerSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["entities", "relationships"],
  "properties": {
    "entities": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "type", "description", "confidence", "quote"],
        "properties": {
          "name": {"type": "string", "description": "The name as the text writes it"},
          "type": {"type": "string", "description": "The kind of thing, one or two words, lower_snake_case"},
          "description": {"type": "string", "description": "What the text says about it, one sentence"},
          "confidence": {"type": ["number", "null"], "description": "From 0 to 1"},
          "quote": {"type": "string", "description": "Words copied verbatim from the text"}
        }
      }
    },
    "relationships": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["source", "target", "type", "description", "confidence", "quote"],
        "properties": {
          "source": {"type": "string", "description": "The name of a listed entity"},
          "target": {"type": "string", "description": "The name of a listed entity"},
          "type": {"type": "string", "description": "The relation, one to three words, lower_snake_case"},
          "description": {"type": "string", "description": "What the text says about it, one sentence"},
          "confidence": {"type": ["number", "null"], "description": "From 0 to 1"},
          "quote": {"type": "string", "description": "Words copied verbatim from the text"}
        }
      }
    }
  }
}`
