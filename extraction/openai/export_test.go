package openai

// FewestTokens is what no tokenizer does with less than.
var FewestTokens = fewestTokens
