package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Goals for contention.
const (
	contentionWriters = 16
	minContendedRatio = 1.0  // request rate of all writers relative to that of one
	maxContendedTail  = 10.0 // p99 of all writers relative to the p50 of one
)

// contentionName is the name of the contention measurements for -only.
const contentionName = "contention"

// contentionCase is a kind of request that several users send about the same object.
type contentionCase struct {
	name string
	// requests are sent in turn by each writer, so that every one of them changes something.
	requests func(writer person) [][]byte

	one, all contended
}

// contended is the measurement of a case with one or with all writers.
type contended struct {
	load
	failed  int
	retries float64
}

// contention measures writers of one object. It returns nil if it is not selected.
func (b *bench) contention(ctx context.Context) ([]*contentionCase, error) {
	if !strings.Contains(contentionName, b.only) {
		return nil, nil
	}
	cases, err := b.environment.contentionCases(ctx)
	if err != nil {
		return nil, err
	}
	for round := range b.rounds + 1 {
		for _, c := range cases {
			if err := b.contend(ctx, c, round == 0); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		b.progress.sayf("contention: round %d of %d", round, b.rounds)
	}
	return cases, nil
}

// contend measures a case with one and with all writers and discards the result if warm is true.
func (b *bench) contend(ctx context.Context, c *contentionCase, warm bool) error {
	for _, m := range []struct {
		writers int
		into    *contended
	}{{1, &c.one}, {contentionWriters, &c.all}} {
		found, err := b.contendWith(ctx, c, m.writers)
		if err != nil {
			return err
		}
		if !warm {
			m.into.load.add(found.load)
			m.into.failed += found.failed
			m.into.retries += found.retries
		}
	}
	return nil
}

func (b *bench) contendWith(ctx context.Context, c *contentionCase, writers int) (*contended, error) {
	plaza := b.environment.plaza()
	clients, err := dialAll(ctx, plaza.api, writers)
	defer closeAll(clients)
	if err != nil {
		return nil, err
	}
	before, err := plaza.metrics(ctx)
	if err != nil {
		return nil, err
	}
	found, err := driveWriters(ctx, c, clients, b.environment.data.writers(), b.length())
	if err != nil {
		return nil, err
	}
	after, err := plaza.metrics(ctx)
	found.retries = after.since(before).sum(retries)
	return found, err
}

// driveWriters sends the requests of one writer over each connection for the given time. Every writer sends its requests
// the same number of times, so that the next measurement starts from the same state.
func driveWriters(ctx context.Context, c *contentionCase, clients []*client, writers []person, length time.Duration) (*contended, error) {
	ctx, cancel := context.WithTimeout(ctx, length+time.Minute)
	defer cancel()
	parts, errs := make([]contended, len(clients)), make([]error, len(clients))
	began := time.Now()
	var wg sync.WaitGroup
	for i, one := range clients {
		stop := context.AfterFunc(ctx, one.close)
		wg.Go(func() {
			defer stop()
			parts[i], errs[i] = one.write(c.requests(writers[i]), began.Add(length))
		})
	}
	wg.Wait()
	sum := &contended{}
	for i := range parts {
		if errs[i] != nil {
			return nil, errs[i]
		}
		sum.load.add(parts[i].load)
		sum.failed += parts[i].failed
	}
	sum.elapsed = time.Since(began)
	return sum, nil
}

// write sends all requests in turn until the end.
func (c *client) write(requests [][]byte, end time.Time) (contended, error) {
	var done contended
	for time.Now().Before(end) {
		for _, request := range requests {
			at := time.Now()
			status, err := c.do(request, io.Discard)
			if err != nil {
				return done, err
			}
			done.latencies = append(done.latencies, time.Since(at))
			if status != http.StatusOK {
				done.failed++
			}
		}
	}
	return done, nil
}

// writers returns the users who write, who are members of all communities.
func (d *data) writers() []person { return d.people[2 : 2+contentionWriters] }

// contentionCases creates the objects that are written to.
func (e *environment) contentionCases(ctx context.Context) ([]*contentionCase, error) {
	c, err := dial(ctx, e.plaza().api)
	if err != nil {
		return nil, err
	}
	defer c.close()
	by := e.data.people[len(e.data.people)-1]
	post, err := c.create(by, "/api/v4/posts", json.RawMessage(createBody(e.data.circles[0])), "posts", "postId")
	if err != nil {
		return nil, err
	}
	channel, err := c.create(by, "/api/v3/channels", object{"type": "community", "displayName": "Everyone", "isPublic": true}, "channels",
		"_id")
	if err != nil {
		return nil, err
	}
	for _, w := range e.data.writers() {
		if _, err := c.json(httpRequest(http.MethodPost, "/api/v3/channels/"+channel.id+"/join", w.token, "{}")); err != nil {
			return nil, err
		}
	}
	answers := []object{{"data": "The path by the water"}, {"data": "The path over the hill"}}
	poll, err := c.create(by, "/api/v3/polls", object{"question": "Which path?", "answers": answers}, "polls", "pollId")
	if err != nil {
		return nil, err
	}
	poll.path = "/api/v3/polls/" + poll.id + "/votes"
	answered, _ := poll.fields["answers"].([]any)
	vote := func(i int) object {
		answer, _ := answered[i].(map[string]any)
		return object{"pollId": poll.id, "answerIds": []any{answer["id"]}}
	}
	reaction := object{"referenceId": post.id, "referenceType": "post", "reactionName": "like"}
	postPath, community := "/api/v3/posts/"+post.id, "/api/v3/communities/"+e.data.circles[1]
	return []*contentionCase{
		newContentionCase("flag", write{"POST", postPath + "/flag", object{"reason": "Others", "detail": "Off the path"}},
			write{"DELETE", postPath + "/unflag", nil}),
		newContentionCase("comment", write{
			"POST", "/api/v3/comments",
			object{"referenceId": post.id, "referenceType": "post", "data": object{"text": "So did we."}},
		}),
		newContentionCase("reaction", write{"POST", "/api/v2/reactions", reaction}, write{"DELETE", "/api/v2/reactions", reaction}),
		newContentionCase("join", write{"DELETE", community + "/leave", nil}, write{"POST", community + "/join", nil}),
		newContentionCase("message", write{
			"POST", "/api/v5/messages",
			object{"messageFeedId": channel.id, "dataType": "text", "data": object{"text": "Hello"}},
		}),
		newContentionCase("vote", write{"PUT", poll.path, vote(0)}, write{"PUT", poll.path, vote(1)}),
	}, nil
}

// object is a JSON object.
type object = map[string]any

// objects returns the JSON objects of a list.
func objects(list any) []object {
	elements, _ := list.([]any)
	var found []object
	for _, element := range elements {
		if o, ok := element.(object); ok {
			found = append(found, o)
		}
	}
	return found
}

// created is an object that was created over the API.
type created struct {
	id, path string
	fields   object
}

// create sends a request and returns the first object of a collection in the response.
func (c *client) create(by person, path string, body any, collection, id string) (*created, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	answer, err := c.json(httpRequest(http.MethodPost, path, by.token, string(encoded)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	found := &created{fields: objects(answer[collection])[0]}
	found.id, _ = found.fields[id].(string)
	return found, nil
}

// write is a request that changes something.
type write struct {
	method, path string
	body         object
}

func newContentionCase(name string, writes ...write) *contentionCase {
	return &contentionCase{name: name, requests: func(by person) [][]byte {
		requests := make([][]byte, len(writes))
		for i, w := range writes {
			body := ""
			if w.body != nil {
				encoded, err := json.Marshal(w.body)
				if err != nil {
					panic(err) // strings can always be marshalled
				}
				body = string(encoded)
			}
			requests[i] = httpRequest(w.method, w.path, by.token, body)
		}
		return requests
	}}
}
