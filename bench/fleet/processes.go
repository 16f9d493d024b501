package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// startServer starts a NATS server with JetStream as a process of its own.
func startServer(ctx context.Context, dir string) (*exec.Cmd, string, error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "-child", "server", "-dir", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop(cmd)
		return nil, "", fmt.Errorf("the server did not start: %w", err)
	}
	return cmd, strings.TrimSpace(url), nil
}

// serve is that process.
func serve(dir string) error {
	ports, err := freeport.Take(1)
	if err != nil {
		return err
	}
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir, Port: ports[0]})
	if err != nil {
		return err
	}
	fmt.Println(server.URL())
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	<-told
	return server.Close()
}

const sentence = "In 1833 Ada Lovelace met Charles Babbage at a party in London, and both talked about the Analytical Engine for hours."

// answer is what the model always says: as many rows as a short passage has.
const answer = `{"id":"1","object":"chat.completion","model":"zero","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` +
	`"{\"entities\":[{\"name\":\"Ada Lovelace\",\"type\":\"person\",\"description\":\"a mathematician\",\"confidence\":0.9,\"quote\":\"Ada Lovelace\"},` +
	`{\"name\":\"Charles Babbage\",\"type\":\"person\",\"description\":\"an inventor\",\"confidence\":0.9,\"quote\":\"Charles Babbage\"}],` +
	`\"relationships\":[{\"source\":\"Ada Lovelace\",\"target\":\"Charles Babbage\",\"type\":\"met\",\"description\":\"met at a party\",\"confidence\":0.8,` +
	`\"quote\":\"Ada Lovelace met Charles Babbage\"}]}"}}],"usage":{"prompt_tokens":700,"completion_tokens":120,"total_tokens":820}}`

// startModel starts a model server that answers at once.
func startModel() (url string, closeModel func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { _ = r.Body.Close() }()
		var sink [4096]byte
		for {
			if _, err := r.Body.Read(sink[:]); err != nil {
				break
			}
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	})}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String() + "/v1", func() { _ = server.Close() }, nil
}

// processorTime is what a process has used, user and system.
func processorTime(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(after)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // USER_HZ
}

// resident is a process's memory in bytes.
func resident(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(fields[1], 10, 64)
	return pages * uint64(os.Getpagesize())
}
