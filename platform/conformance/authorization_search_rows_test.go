package conformance

import "testing"

func searchRows() []row {
	tagged := func(*testing.T, *fixture) object { return object{"hashtags": []string{"climbing"}} }
	text := func(*testing.T, *fixture) object { return object{"query": "rock climbing"} }
	return []row{
		{procedure: "SearchService/SearchPosts", request: tagged, want: everyone},
		{procedure: "SearchService/RankPosts", request: text, want: everyone},
		{procedure: "SearchService/RankCommunities", request: text, want: everyone},
	}
}
