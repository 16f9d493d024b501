package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/redis/go-redis/v9"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
)

// runServer serves NATS with JetStream on files until the process is stopped.
func runServer() {
	dir, err := os.MkdirTemp("", "admission")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, JetStream: true, StoreDir: dir, NoLog: true, NoSigs: true})
	if err != nil {
		panic(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		panic("the server does not start")
	}
	fmt.Println(s.ClientURL())
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n') // until who started it is gone
	s.Shutdown()
}

// startNATS runs this command as a server.
func startNATS() (url string, stop func(), err error) {
	cmd := exec.Command(os.Args[0], "-serve")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, err
	}
	return strings.TrimSpace(line), func() { _ = in.Close(); _ = cmd.Wait() }, nil
}

// startRedis runs redis-server, without persistence, if there is one.
func startRedis() (address string, stop func(), err error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return "", nil, errors.New("there is no redis-server on PATH")
	}
	ports, err := freeport.Take(1)
	if err != nil {
		return "", nil, err
	}
	port := strconv.Itoa(ports[0])
	cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", os.TempDir())
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	address = "127.0.0.1:" + port
	client := redis.NewClient(&redis.Options{Addr: address})
	defer client.Close()
	for range 100 {
		if err = client.Ping(context.Background()).Err(); err == nil {
			return address, stop, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	stop()
	return "", nil, err
}
