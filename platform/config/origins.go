package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Origins are the origins allowed by CORS, separated by commas; empty allows all origins.
type Origins string

// UnmarshalText parses origins like https://app.example.com or http://localhost:3000.
func (o *Origins) UnmarshalText(text []byte) error {
	var origins []string
	for origin := range strings.SplitSeq(string(text), ",") {
		origin = strings.TrimSpace(origin)
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("%s is not an origin like https://app.example.com", quoteAddress(origin))
		}
		origins = append(origins, origin)
	}
	*o = Origins(strings.Join(origins, ","))
	return nil
}

// List returns the origins; an empty list allows all origins.
func (o Origins) List() []string {
	if o == "" {
		return nil
	}
	return strings.Split(string(o), ",")
}
