package hostile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/region"
)

// observationTime is how long to watch attacks that continue without further requests.
const observationTime = 5 * time.Second

// roundTripAttacks make the server read from the database, or connect to it.
func roundTripAttacks() []attack {
	return []attack{
		{
			name: "subscriptions that are refused", finding: "A5", unit: "round trips within 5 s", most: 800, run: subscribe,
			without: defence.SubscriptionRate,
		},
		{
			name: "streams that resume", finding: "A6", unit: "round trips within 5 s", most: 4000, run: resumeStreams, without: defence.ReplayRate,
		},
		{
			name: "erasure of a user", finding: "A11", unit: "writes of its progress", most: 40, run: eraseUser, without: defence.ErasureBatches,
		},
		{
			name: "HTTP/2 resets", unit: "connections opened to the database", most: 8, run: resetFlood, without: defence.CancelGrace,
		},
	}
}

// connectMQTT opens a connection by MQTT with a token.
func connectMQTT(n *network, c *client, token string) (mqtt.Client, error) {
	options := mqtt.NewClientOptions().AddBroker("ws://" + n.host() + "/mqtt").SetClientID("client").SetUsername(c.ownID).SetPassword(token).
		SetProtocolVersion(4).SetAutoReconnect(false).SetConnectRetry(false).SetConnectTimeout(time.Minute)
	connection := mqtt.NewClient(options)
	connecting := connection.Connect()
	connecting.Wait()
	return connection, connecting.Error()
}

// subscribe subscribes to topics that are refused, with packets as large as allowed.
func subscribe(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	connection, err := connectMQTT(n, user, user.token)
	if err != nil {
		return 0, err
	}
	defer connection.Disconnect(0)
	return added(ctx, n.roundTrips, func() error {
		for range 20 {
			topics := map[string]byte{}
			for range 800 {
				topics[n.facts.NetworkID+"/social/community/"+region.NewID(region.EU)] = 0
			}
			connection.SubscribeMultiple(topics, nil)
		}
		pause(ctx, observationTime)
		if !connection.IsConnected() {
			return errors.New("the server has closed the connection")
		}
		return nil
	})
}

// resumeStreams resumes as many streams as a user may have, each of which has missed hundreds of events.
func resumeStreams(ctx context.Context, n *network) (float64, error) {
	users, err := n.newUsers(ctx, 6)
	if err != nil {
		return 0, err
	}
	reader, writers := users[0], users[1:]
	community, err := writers[0].newCommunity(ctx, append(writers[1:], reader)...)
	if err != nil {
		return 0, err
	}
	path := "/realtime/events?topic=" + n.facts.NetworkID + "/social/community/" + community + "/post/%2B"
	position, err := reader.positionOf(ctx, path)
	if err != nil {
		return 0, err
	}
	err = together(ctx, 80*len(writers), func(i int) error {
		_, err := writers[i%len(writers)].newPost(ctx, community, `"data":{"text":"hello"}`)
		return err
	})
	if err != nil {
		return 0, err
	}
	return added(ctx, n.roundTrips, func() error {
		resuming, stop := context.WithTimeout(ctx, observationTime)
		defer stop()
		return together(ctx, 15, func(int) error { return reader.resume(resuming, path, position) })
	})
}

// openStream opens an event stream, after a position unless it is empty.
func (c *client) openStream(ctx context.Context, path, after string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header = c.header.Clone()
	if after != "" {
		request.Header.Set("Last-Event-Id", after)
	}
	return c.http.Do(request)
}

// positionOf returns the position at which a stream begins.
func (c *client) positionOf(ctx context.Context, path string) (string, error) {
	response, err := c.openStream(ctx, path, "")
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if id, ok := strings.CutPrefix(lines.Text(), "id:"); ok {
			return strings.TrimSpace(id), nil
		}
	}
	return "", fmt.Errorf("%s: status %d, and no position: %w", path, response.StatusCode, lines.Err())
}

// resume reads a stream after a position until ctx is done.
func (c *client) resume(ctx context.Context, path, position string) error {
	response, err := c.openStream(ctx, path, position)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	_, _ = io.Copy(io.Discard, response.Body) // ends with ctx
	if response.StatusCode != http.StatusOK || ctx.Err() == nil {
		return fmt.Errorf("%s: status %d, or the stream has ended", path, response.StatusCode)
	}
	return nil
}

// eraseUser erases a user without content, and counts how often its progress was stored until the first pass had ended.
func eraseUser(ctx context.Context, n *network) (float64, error) {
	user, err := n.newUser(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := user.must(ctx, http.MethodDelete, "/api/v4/users/"+user.userID, ""); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		a, err := n.admin().must(ctx, http.MethodGet, "/api/v1/erasures/"+user.ownID, "")
		if err != nil {
			return 0, err
		}
		if a.text("erasure.state") != "running" {
			break
		}
		pause(ctx, 100*time.Millisecond)
	}
	return n.query(ctx, "SELECT version FROM erasures WHERE id = $1", user.ownID)
}
