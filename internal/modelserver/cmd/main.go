// This command runs the scripted model server as a process of its own, for tests
// that start real workers. It prints its base URL as the only line on stdout and
// stops on SIGTERM or SIGINT, or when stdin closes under -until-eof.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "practice-model:", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("practice-model", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // mistakes are told once, by who gets the error
	addr := flags.String("addr", "127.0.0.1:0", "loopback address to listen on")
	models := flags.String("models", "test-model", "comma-separated models that GET /v1/models lists")
	command := flags.String("control", "", "JSON that POST /control would take, applied before the first request")
	untilEOF := flags.Bool("until-eof", false, "stop when stdin closes, so that a parent that dies takes the server with it")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(stdout)
		flags.Usage()
		return nil
	case err != nil:
		return err
	}
	var start modelserver.Command
	if *command != "" {
		if err := json.Unmarshal([]byte(*command), &start); err != nil {
			return fmt.Errorf("-control: %w", err)
		}
	}

	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	server, err := modelserver.New(modelserver.Options{Addr: *addr, Models: strings.Split(*models, ",")})
	if err != nil {
		return err
	}
	defer server.Close()
	if err := server.Apply(start); err != nil {
		return fmt.Errorf("-control: %w", err)
	}
	if *untilEOF {
		go func() {
			_, _ = io.Copy(io.Discard, stdin)
			stop()
		}()
	}
	fmt.Fprintln(stdout, server.BaseURL())
	<-ctx.Done()
	return nil
}
