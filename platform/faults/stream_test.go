//go:build faults

package faults

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxLine is the maximum length of a line of a stream, in bytes.
const maxLine = 1 << 20

// followStream receives the events of a topic by streams that end with their servers and are resumed at the next ones, until ctx ends.
// It returns when the first stream has begun.
func (l *mqttLoad) followStream(ctx context.Context, topic string) *publishedPosts {
	found := &publishedPosts{events: map[string][]string{}}
	began, ended := make(chan struct{}), make(chan struct{})
	found.began = sync.OnceFunc(func() { close(began) })
	go func() {
		defer close(ended)
		lastID := ""
		for ctx.Err() == nil {
			lastID = l.readStream(ctx, topic, lastID, found)
		}
	}()
	l.t.Cleanup(func() { <-ended })
	<-began
	return found
}

// readStream reads one stream to its end and returns the last id.
func (l *mqttLoad) readStream(ctx context.Context, topic, lastID string, found *publishedPosts) string {
	s := l.server.Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.api+"/realtime/events?"+url.Values{"topic": {topic}}.Encode(), nil)
	require.NoError(l.t, err)
	request.Header.Set("Authorization", "Bearer "+s.token)
	request.Header.Set("Last-Event-ID", lastID)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return lastID
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return lastID
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLine)
	return readEvents(l.t, lines, lastID, found)
}

func readEvents(t *testing.T, lines *bufio.Scanner, lastID string, found *publishedPosts) string {
	t.Helper()
	var id, name, data string
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ": ")
		switch field {
		case "id":
			id = value
		case "event":
			name = value
		case "data":
			data = value
		case "": // the end of an event, or a comment
			if name == "reset" {
				t.Error("the stream cannot resume")
			}
			if name != "" && name != "reset" && name != "end" {
				found.add(t, []byte(data))
			}
			lastID, name = id, ""
			found.began()
		}
	}
	return lastID
}
