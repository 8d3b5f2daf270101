package main

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
)

// operation is one kind of request.
type operation struct {
	name      string
	ratio     float64 // goal: requests a second of plaza, by those of the bare handler
	maxTrips  float64 // goal: round trips to the database
	request   func(n int64) []byte
	normalise func(answer map[string]any)

	next atomic.Int64 // both servers take turns through the same sequence of requests
}

// Goals of reads and writes.
const (
	readRatio  = 0.7
	writeRatio = 0.8
	otherRatio = 0.95 // against another plaza: no slower, as far as the measurement tells
)

// operations are those that are measured, for a server at any address.
func operations(d *data) []*operation {
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
	return []*operation{
		{name: "get post", ratio: readRatio, maxTrips: 2, request: func(int64) []byte { return getPost }},
		{name: "list 20 posts", ratio: readRatio, maxTrips: 3, normalise: withoutSeals, request: func(int64) []byte { return list }},
		{
			name: "create text post", ratio: writeRatio, maxTrips: 2, normalise: withoutNews,
			request: func(n int64) []byte { return creates[int(n)%len(creates)] },
		},
		{name: "flag a comment", ratio: writeRatio, maxTrips: 3, request: flag},
	}
}

func createBody(communityID string) string {
	body, err := json.Marshal(map[string]any{
		"targetType": "community", "targetId": communityID, "dataType": "text",
		"data": map[string]string{"title": "A bench with a view", "text": "Half way up the hill there is a bench. Nobody knows who put it there."},
	})
	if err != nil {
		panic(err) // texts always marshal
	}
	return string(body)
}

// httpRequest is a whole HTTP/1.1 request as it goes over the wire.
func httpRequest(method, path, token, body string) []byte {
	head := method + " " + path + " HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer " + token + "\r\n"
	if body != "" {
		head += fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	return []byte(head + "\r\n" + body)
}
