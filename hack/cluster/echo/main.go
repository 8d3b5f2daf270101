// Program echo is the workload of the cluster's smoke test: a server that reports where it runs, and a client for pods
// without a shell.
//
//	echo                    serves on :8080: "NODE POD"
//	echo get http://…       prints the response, or fails
//	echo dial HOST:PORT     connects, or fails
//	echo relay HOST:PORT    relays connections on :8080 to an address
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	switch {
	case len(args) == 0:
		return serve(ctx, out)
	case len(args) == 2 && args[0] == "get":
		return get(ctx, args[1], out)
	case len(args) == 2 && args[0] == "dial":
		return dial(ctx, args[1])
	case len(args) == 2 && args[0] == "relay":
		return relay(ctx, args[1])
	default:
		return fmt.Errorf("unknown command %q: use get URL, dial HOST:PORT, relay HOST:PORT, or no arguments", args)
	}
}

func serve(ctx context.Context, out io.Writer) error {
	here := os.Getenv("NODE") + " " + os.Getenv("POD")
	server := &http.Server{
		Addr:              ":8080",
		ReadHeaderTimeout: 5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintln(w, here)
		}),
	}
	stopped := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stopped()
	fmt.Fprintln(out, "serving on", here)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func get(ctx context.Context, url string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", url, res.Status)
	}
	_, err = io.Copy(out, res.Body)
	return err
}

func dial(ctx context.Context, address string) error {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}
