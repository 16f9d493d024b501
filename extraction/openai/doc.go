// Package openai is the [extraction.Provider] for every server that speaks the
// OpenAI chat completions API: OpenAI itself, vLLM, llama.cpp, Ollama, LM Studio
// and the gateways in front of them.
//
// It asks for the answer's shape in the strongest way that the server accepts
// (json_schema, then json_object, then nothing) and remembers what it learnt.
// Whatever goes wrong comes back as an [extraction.ProviderError] whose Kind says
// what the caller can do. It never retries, limits or waits: wrappers do that.
//
// Nothing that leaves the package as an error or a log line contains the API
// key, the value of an extra header, or the document's text, even when the
// server echoes them.
package openai
