package realtime

import (
	"strings"

	"github.com/plaza-social/plaza/platform/fail"
)

// String returns the id of an event in a stream of topics: the ids of the last event of each home, such as eu-4.sg-7.us-0.
func (p positions) String() string {
	var parts []string
	for _, home := range p.homes() {
		parts = append(parts, lineID(home, p[home]))
	}
	return strings.Join(parts, ".")
}

// parsePositions parses the id of an event in a stream of topics; it returns nil if the text is empty.
func parsePositions(text string) (positions, error) {
	if text == "" {
		return nil, nil // an absent header is not an error
	}
	p := positions{}
	for part := range strings.SplitSeq(text, ".") {
		at, err := parseLineID(part)
		if err != nil {
			return nil, err
		}
		if at == nil || p.has(at) {
			return nil, fail.Validation("Last-Event-ID: must be the id of an event of a stream")
		}
		p[at.home] = at.seq
	}
	return p, nil
}

func (p positions) has(at *position) bool {
	_, known := p[at.home]
	return known
}
