package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
)

// operation is a kind of request.
type operation struct {
	name      string
	ratio     float64 // goal: request rate relative to the bare handler; 0 if there is none
	maxTrips  float64 // goal: database round trips
	request   func(n int64) []byte
	normalise func(answer map[string]any)

	next atomic.Int64 // number of the next request; both servers share the sequence
}

// Goals for reads and writes.
const (
	readRatio  = 0.7
	writeRatio = 0.8
	otherRatio = 0.95 // relative to another plaza: no slower within the measurement error
)

// operations returns the operations that the server called other supports, for a server at any address.
func operations(d *data, other string) []*operation {
	reader, author := d.people[0], d.people[1]
	getPost := httpRequest("GET", "/api/v3/posts/"+d.post, reader.token, "")
	list := httpRequest("GET", "/api/v3/community-feeds/"+d.feed+"?limit=20", reader.token, "")
	creates := make([][]byte, len(d.circles))
	for i, circle := range d.circles {
		creates[i] = httpRequest("POST", "/api/v4/posts", author.token, createBody(circle))
	}
	flag := func(n int64) []byte {
		comment := d.comments[int(n)%len(d.comments)]
		flagger := d.people[int(n)/len(d.comments)%len(d.people)]
		return httpRequest("POST", "/api/v3/comments/"+comment+"/flag", flagger.token, `{"reason":"Others","detail":"Off the path"}`)
	}
	all := []*operation{
		{name: "get post", ratio: readRatio, maxTrips: 2, request: func(int64) []byte { return getPost }},
		{name: "list 20 posts", ratio: readRatio, maxTrips: 3, normalise: withoutSeals, request: func(int64) []byte { return list }},
		{
			name: "create text post", ratio: writeRatio, maxTrips: 2, normalise: withoutNewFields,
			request: func(n int64) []byte { return creates[int(n)%len(creates)] },
		},
		{name: "flag a comment", maxTrips: 3, request: flag},
	}
	return slices.DeleteFunc(all, func(op *operation) bool { return other == bareName && op.ratio == 0 })
}

func createBody(communityID string) string {
	body, err := json.Marshal(map[string]any{
		"targetType": "community", "targetId": communityID, "dataType": "text",
		"data": map[string]string{"title": "A bench with a view", "text": "Half way up the hill there is a bench. It was put there long ago."},
	})
	if err != nil {
		panic(err) // strings can always be marshalled
	}
	return string(body)
}

// httpRequest returns an HTTP/1.1 request as sent on the wire.
func httpRequest(method, path, token, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + token + "\r\n"
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}
