package main

import "github.com/plaza-social/plaza/platform/region"

// demoPerson is a user of the demo network.
type demoPerson struct {
	id, name string
	home     region.Code // region of the first sign-in, which becomes the home
}

// demoCommunity is a community and its content. Users are referred to by id.
type demoCommunity struct {
	home              region.Code
	name, description string
	category          string
	founder           string
	members           []string
	posts             []demoPost
}

// demoPost is a post, its comments and reactions, and the users who flag it.
type demoPost struct {
	author, text string
	comments     []demoComment
	reactions    []demoReaction
	flaggedBy    []string
}

// demoReaction is a reaction and the users who add it.
type demoReaction struct {
	name string
	by   []string
}

// demoComment is a comment, its replies and reactions, and the users who flag it.
type demoComment struct {
	author, text string
	answers      []demoComment
	reactions    []demoReaction
	flaggedBy    []string
}

// demoPeople are spread over all three regions.
var demoPeople = []demoPerson{
	{"amara", "Amara Okafor", region.US},
	{"diego", "Diego Fuentes", region.US},
	{"ruth", "Ruth Whitaker", region.US},
	{"ines", "Inês Duarte", region.EU},
	{"jonas", "Jonas Lindqvist", region.EU},
	{"zofia", "Zofia Krawczyk", region.EU},
	{"mei", "Mei Lin Tan", region.SG},
	{"arjun", "Arjun Nair", region.SG},
	{"siti", "Siti Rahman", region.SG},
}

// demoCommunities have members from other regions, so that every region shows rows of every home.
var demoCommunities = []demoCommunity{
	{
		home: region.EU, name: "Night trains", category: "Travel", founder: "jonas",
		description: "Sleepers, couchettes and the breakfast after.",
		members:     []string{"ines", "zofia", "amara", "mei"},
		posts: []demoPost{
			{
				author: "jonas", text: "Stockholm to Hamburg is back on the summer timetable. Who has tried the new compartments?",
				reactions: []demoReaction{{"like", []string{"ines", "amara", "mei"}}, {"love", []string{"zofia"}}},
				comments: []demoComment{
					{author: "zofia", text: "Last week. The beds are longer, the corridor is not.", answers: []demoComment{
						{author: "jonas", text: "Good enough for me."},
					}},
					{author: "mei", text: "Is there a connection to Vienna without a night in Hamburg?"},
				},
			},
			{
				author: "ines", text: "Lisbon again has no night train at all. I have written to my representative; the address is in the comments.",
				comments: []demoComment{{author: "ines", text: "transport@parliament.example"}},
			},
		},
	},
	{
		home: region.SG, name: "Hawker notes", category: "Food", founder: "mei",
		description: "Where to eat, what to order, when to queue.",
		members:     []string{"arjun", "siti", "diego"},
		posts: []demoPost{
			{
				author: "siti", text: "The laksa stall on the second floor opens at ten now, not eleven. Go early, it is gone by one.",
				reactions: []demoReaction{{"love", []string{"arjun", "diego", "mei"}}},
				comments: []demoComment{
					{
						author: "arjun", text: "Confirmed this morning. Ask for less coconut if you have plans for the afternoon.",
						reactions: []demoReaction{{"laugh", []string{"siti", "diego"}}},
					},
					{author: "diego", text: "Landing on Friday, this is my first stop."},
				},
			},
			{
				author: "arjun", text: "CHEAP WATCHES, message me!!!", flaggedBy: []string{"mei", "siti", "diego"},
				comments: []demoComment{{author: "mei", text: "Arjun, has your account been taken over?", answers: []demoComment{
					{author: "arjun", text: "They had. Sorted, sorry everyone."},
				}}},
			},
		},
	},
	{
		home: region.US, name: "Balcony gardens", category: "Home", founder: "amara",
		description: "Big harvests from small places.",
		members:     []string{"ruth", "diego", "ines", "siti"},
		posts: []demoPost{
			{
				author: "amara", text: "First tomatoes of the year, from a pot the size of a shoe box. Variety and soil mix below.",
				comments: []demoComment{
					{author: "amara", text: "Tiny Tim; two parts compost, one part perlite, one part coir."},
					{author: "ruth", text: "You people and your sun. Mine are still green.", flaggedBy: []string{"siti"}},
				},
			},
			{
				author: "ruth", text: "Does anybody grow beans on a north side? I have a railing and no hope.",
				reactions: []demoReaction{{"hug", []string{"amara", "ines"}}},
			},
		},
	},
}
