package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// client sends requests over one connection. It does little work, because it shares the machine with the servers and
// its cost makes them look more alike.
type client struct {
	conn   net.Conn
	reader *bufio.Reader
}

func dial(ctx context.Context, address string) (*client, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// do sends a request and copies the body of the response.
func (c *client) do(request []byte, body io.Writer) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(body, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode, err
}

// json sends a request and decodes the response.
func (c *client) json(request []byte) (map[string]any, error) {
	var body bytes.Buffer
	status, err := c.do(request, &body)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("status %d: %s", status, body.String())
	}
	var answer map[string]any
	err = json.Unmarshal(body.Bytes(), &answer)
	return answer, err
}

func (c *client) close() { _ = c.conn.Close() }

// dialAll opens n connections. If it fails, it also returns the connections that it has opened.
func dialAll(ctx context.Context, address string, n int) ([]*client, error) {
	clients := make([]*client, 0, n)
	for range n {
		c, err := dial(ctx, address)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func closeAll(clients []*client) {
	for _, c := range clients {
		c.close()
	}
}

// load holds the latencies of requests that were sent to one server.
type load struct {
	elapsed   time.Duration
	latencies []time.Duration
}

// perSecond returns the request rate.
func (l *load) perSecond() float64 { return float64(len(l.latencies)) / l.elapsed.Seconds() }

// add adds the requests of another measurement.
func (l *load) add(o load) {
	l.elapsed += o.elapsed
	l.latencies = append(l.latencies, o.latencies...)
}

// percentile returns the latency that the given fraction of the requests did not exceed.
func (l *load) percentile(part float64) time.Duration {
	if len(l.latencies) == 0 {
		return 0
	}
	slices.Sort(l.latencies)
	return l.latencies[min(len(l.latencies)-1, int(part*float64(len(l.latencies))))]
}

// drive sends requests over all connections for the given time, sequentially on each connection.
func drive(ctx context.Context, op *operation, clients []*client, length time.Duration) (load, error) {
	ctx, cancel := context.WithTimeout(ctx, length+time.Minute)
	defer cancel()
	began := time.Now()
	end := began.Add(length)
	latencies, errs := make([][]time.Duration, len(clients)), make([]error, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		stop := context.AfterFunc(ctx, c.close)
		wg.Go(func() {
			defer stop()
			latencies[i], errs[i] = c.drive(op, end)
		})
	}
	wg.Wait()
	l := load{elapsed: time.Since(began)}
	for i := range clients {
		if errs[i] != nil {
			return l, fmt.Errorf("%s: %w", op.name, errs[i])
		}
		l.latencies = append(l.latencies, latencies[i]...)
	}
	return l, nil
}

func (c *client) drive(op *operation, end time.Time) ([]time.Duration, error) {
	latencies := make([]time.Duration, 0, 1<<12)
	for at := time.Now(); at.Before(end); {
		request := op.request(op.next.Add(1))
		status, err := c.do(request, io.Discard)
		if err != nil {
			return nil, err
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("status %d", status)
		}
		now := time.Now()
		latencies = append(latencies, now.Sub(at))
		at = now
	}
	return latencies, nil
}
