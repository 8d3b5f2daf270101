package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/loopback"
)

// connectionAttacks hold connections.
func connectionAttacks() []attack {
	return []attack{
		{
			name: "answers that are not read", finding: "A15", unit: "requests in progress after 30 s", most: 0, run: neverRead,
			without: defence.WriteDeadline,
		},
		{
			name: "event streams of a user", unit: "streams open", most: 16, run: manyStreams, without: defence.StreamsPerUser,
		},
		{
			name: "connections of an address", finding: "A4", unit: "connections open", most: 2500, run: manyConnections,
			settings: []string{"PLAZA_MAX_CONNECTIONS_PER_ADDRESS=10000"},
		},
	}
}

const (
	unreadConnections = 10
	// unreadRequests is the number of requests on each of these connections: their answers do not fit into the buffers of the system.
	unreadRequests = 40
)

// neverRead requests large pages on many connections and reads none of them. It returns how many requests are in progress when the
// server should have given all of them up.
func neverRead(ctx context.Context, n *network) (float64, error) {
	users, err := n.newUsers(ctx, unreadConnections)
	if err != nil {
		return 0, err
	}
	community, err := users[0].newCommunity(ctx)
	if err != nil {
		return 0, err
	}
	for range 20 {
		if _, err := users[0].newPost(ctx, community, largePost); err != nil {
			return 0, err
		}
	}
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	for i := range unreadConnections {
		conn, err := requestWithoutReading(ctx, n, i, users[i].token, "/api/v3/community-feeds/"+community+"?limit=20")
		if err != nil {
			return 0, err
		}
		conns = append(conns, conn)
	}
	var inProgress, most float64
	for range 30 {
		if inProgress, err = n.metric(ctx, "plaza_http_requests_in_flight"); err != nil {
			return 0, err
		}
		if most = max(most, inProgress); inProgress == 0 && most >= unreadConnections {
			return 0, nil
		}
		pause(ctx, time.Second)
	}
	if most < unreadConnections {
		return 0, fmt.Errorf("only %v requests were in progress at a time", most)
	}
	return inProgress, ctx.Err()
}

// requestWithoutReading opens a connection and sends requests.
func requestWithoutReading(ctx context.Context, n *network, address int, token, path string) (net.Conn, error) {
	conn, err := loopback.Dialer(address).DialContext(ctx, "tcp", n.host())
	if err != nil {
		return nil, err
	}
	_ = conn.(*net.TCPConn).SetReadBuffer(4096) // of a TCP dialer
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", path, token)
	_, err = io.WriteString(conn, strings.Repeat(request, unreadRequests))
	return conn, err
}

// manyStreams opens event streams of one user, and counts those that the server accepts.
func manyStreams(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	streaming, stop := context.WithCancel(ctx) // ends the streams
	defer stop()
	return accepted(streaming, 60, http.StatusTooManyRequests, func(ctx context.Context, _ int) (answer, error) {
		response, err := user.openStream(ctx, "/realtime/community.userAdded", "") //nolint:bodyclose // it ends with its context
		if err != nil {
			return answer{}, err
		}
		return answer{status: response.StatusCode}, nil
	})
}

// manyConnections opens connections without requests from one address, and counts those that the server keeps open.
func manyConnections(ctx context.Context, n *network) (float64, error) {
	const attempts = 3500
	conns := make([]net.Conn, attempts)
	defer func() {
		for _, conn := range conns {
			if conn != nil {
				_ = conn.Close()
			}
		}
	}()
	err := together(ctx, attempts, func(i int) (err error) {
		conns[i], err = loopback.Dialer(4).DialContext(ctx, "tcp", n.host())
		return err
	})
	if err != nil {
		return 0, err
	}
	pause(ctx, time.Second)
	var open float64
	for _, conn := range conns {
		if err := conn.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			return 0, err
		}
		if _, err := conn.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
			open++
		}
	}
	return open, nil
}
