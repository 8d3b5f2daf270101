package main

import (
	"bytes"
	_ "embed"

	"go.yaml.in/yaml/v3"

	"github.com/plaza-social/plaza/platform/region"
)

//go:embed demo.yaml
var demoYAML []byte

// demoContent is the content of a demo network. Users are referred to by id.
type demoContent struct {
	People      []demoPerson
	Communities []demoCommunity
}

// loadDemo returns the content in demo.yaml.
func loadDemo() (demoContent, error) {
	var c demoContent
	decoder := yaml.NewDecoder(bytes.NewReader(demoYAML))
	decoder.KnownFields(true)
	err := decoder.Decode(&c)
	return c, err
}

type demoPerson struct {
	ID, Name string
	Home     region.Code // region of the first sign-in, which becomes the home
}

type demoCommunity struct {
	Home              region.Code
	Name, Description string
	Category          string
	Founder           string
	Members           []string
	Posts             []demoPost
}

type demoPost struct {
	Author, Text string
	Comments     []demoComment
	Reactions    []demoReaction
	FlaggedBy    []string `yaml:"flaggedBy"`
}

type demoComment struct {
	Author, Text string
	Answers      []demoComment
	Reactions    []demoReaction
	FlaggedBy    []string `yaml:"flaggedBy"`
}

type demoReaction struct {
	Name string
	By   []string
}
