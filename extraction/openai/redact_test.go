package openai_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// everything is what a careless caller might log of an error.
func everything(err error) string {
	var all strings.Builder
	for e := err; e != nil; e = errors.Unwrap(e) {
		fmt.Fprintf(&all, "%v\n%+v\n%#v\n", e, e, e)
	}
	return all.String()
}

func TestSecretsAndTextNeverLeaveInErrors(t *testing.T) {
	const token = "gateway-token-42"
	var log bytes.Buffer
	p := start(t, func(c *openai.Config) {
		c.Header = map[string]string{"X-Gateway": "Bearer " + token}
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	const document = "The patient Maria Rossi was admitted\non the third of May with a broken arm."
	echo := "bad key {key} or " + token + " or sk-somebodyelses000000 for input: {text} (model {model}) response_format"
	for _, style := range modelserver.Styles() {
		for _, status := range []int{400, 401, 404, 422, 429, 500, 503} {
			p.server.Default(modelserver.Fails(status, style, "", echo))
			_, err := p.ask(document)
			require.Error(t, err)
			shown := everything(err) + log.String()
			for _, secret := range []string{apiKey, token, "somebodyelses", "Maria Rossi", "broken arm"} {
				require.NotContains(t, shown, secret, "%d %s", status, style)
			}
		}
	}
	for _, body := range []string{
		`{"error":{"message":"Incorrect API key: ` + apiKey + `"}}`,
		`<html><title>` + apiKey + `</title></html>`,
		apiKey + " " + strings.Repeat("y", 100_000),
		strings.Repeat("z", 295) + apiKey, // at the edge of the bound
		strings.Repeat("z", 64<<10-12) + apiKey,
		strings.Repeat(" ", 64<<10-12) + "." + apiKey,
		"<html>" + strings.Repeat("<title>", 20_000) + apiKey,
	} {
		for _, status := range []int{200, 401, 500} {
			shown := everything(p.fails(modelserver.Raw(status, "text/html", body)))
			require.NotContains(t, shown, apiKey)
			require.NotContains(t, shown, apiKey[:12])
		}
	}
	require.NotContains(t, everything(p.fails(named(t, "redirect").WithHeader("Location", "https://x/"+apiKey))), apiKey)
	refusal := modelserver.Behaviour{Name: "custom", Refusal: "I will not say that " + sentence}
	require.NotContains(t, everything(p.fails(refusal)), "Lovelace")
}

func TestDetailStaysUsefulAroundAnEcho(t *testing.T) {
	p := start(t)
	p.server.Then(modelserver.Fails(http.StatusUnprocessableEntity, modelserver.StyleDetail, "", "field messages: {text} is not a list"))
	_, err := p.ask(sentence)
	require.EqualError(t, err, "model call failed: invalid_request (status 422): field messages: [text] is not a list")
	p.server.Then(modelserver.Fails(http.StatusUnprocessableEntity, modelserver.StyleDetail, "", "field messages: {text} is not a list"))
	_, err = p.ask("Ada")
	require.EqualError(t, err, "model call failed: invalid_request (status 422): field messages: [text] is not a list")
}

func TestEchoesAreHiddenAcrossLineBreaksAndCuts(t *testing.T) {
	p := start(t)
	const document = "A first line that is long enough.\nMaria Rossi\nA third line that is long enough."
	p.server.Then(modelserver.Raw(http.StatusBadRequest, "text/plain", "bad: "+strings.ReplaceAll(document, "\n", `\n`)+" (end)"))
	_, err := p.ask(document)
	require.EqualError(t, err, "model call failed: invalid_request (status 400): bad: [text] (end)")

	// A long token, repeated until the bound on what is searched cuts one.
	token := strings.Repeat("t0ken", 1600)
	p = start(t, func(c *openai.Config) { c.Header = map[string]string{"X-Gateway": token} })
	for _, body := range []string{
		strings.Repeat(token, 9),
		strings.Repeat("\xff", 64<<10-100) + token,
		`{"error":{"message":"` + strings.Repeat(token, 9) + `"}}`,
	} {
		for _, status := range []int{http.StatusOK, http.StatusBadGateway} {
			failed := p.fails(modelserver.Raw(status, "application/json", body))
			require.NotContains(t, failed.Error(), "t0ken")
		}
	}
	// The connection breaks in the middle of one.
	broken := modelserver.Raw(http.StatusBadGateway, "text/plain", token)
	broken.CutBody = true
	require.NotContains(t, p.fails(broken).Error(), "t0ken")
}

func TestNothingThatPrintsAProviderPrintsItsKey(t *testing.T) {
	var log bytes.Buffer
	config := openai.Config{Model: "m", APIKey: apiKey, Header: map[string]string{"X-Key": apiKey}}
	provider, err := openai.New(config)
	require.NoError(t, err)
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	logger.Info("x", "config", config, "pointer", &config, "provider", provider)
	shown := log.String() + fmt.Sprintf("%v %+v %#v %s %v %+v %#v", config, config, config, config, provider, provider, provider)
	require.NotContains(t, shown, apiKey)
}
