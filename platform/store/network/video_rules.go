package network

import (
	"encoding/json"
	"strings"
)

// VideoRules are the rules of the videos of one use.
type VideoRules struct {
	Allowed            bool   `json:"allowed"`
	MaxDurationSeconds int    `json:"maxDurationSeconds"`
	MaxResolution      string `json:"maxResolution"`
	MinResolution      string `json:"minResolution"`
}

func defaultVideoRules() map[string]VideoRules {
	rules := map[string]VideoRules{}
	for use, seconds := range map[string]int{"post": 7200, "message": 600, "story": 90} {
		rules[use] = VideoRules{Allowed: true, MaxDurationSeconds: seconds, MaxResolution: "1080p", MinResolution: "360p"}
	}
	return rules
}

// VideoRuleName returns the name of the setting of one rule, which is a JSON name of VideoRules.
func VideoRuleName(use, rule string) string { return "video." + use + "." + rule }

// setVideos sets the rules of videos to those of the settings that have them.
func setVideos(videos map[string]VideoRules, values map[string]json.RawMessage) error {
	for use, rules := range videos {
		own := map[string]json.RawMessage{}
		for name, value := range values {
			if rule, ok := strings.CutPrefix(name, VideoRuleName(use, "")); ok {
				own[rule] = value
			}
		}
		raw, err := json.Marshal(own)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &rules); err != nil {
			return err
		}
		videos[use] = rules
	}
	return nil
}
