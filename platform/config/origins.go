package config

import (
	"fmt"
	"net/url"
	"strings"
)

// Origins are the origins whose pages may call, separated by commas; empty stands for every origin.
type Origins string

// UnmarshalText reads origins like https://app.example.com or http://localhost:3000.
func (o *Origins) UnmarshalText(text []byte) error {
	var origins []string
	for origin := range strings.SplitSeq(string(text), ",") {
		origin = strings.TrimSpace(origin)
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.Scheme+"://"+u.Host != origin {
			return fmt.Errorf("%q is not an origin like https://app.example.com", origin)
		}
		origins = append(origins, origin)
	}
	*o = Origins(strings.Join(origins, ","))
	return nil
}

// List returns the origins one by one; none stands for every origin.
func (o Origins) List() []string {
	if o == "" {
		return nil
	}
	return strings.Split(string(o), ",")
}
