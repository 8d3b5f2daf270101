// Package render turns the spec of a SocialNetwork into the objects that make it run. Every function is pure: no client, no
// clock, no randomness; equal inputs give equal bytes, whatever the order of maps. testdata/golden holds what the samples give.
//
// Objects are written as the API server would print them back, and say only what the operator decides: a field that is left
// to the cluster's default, or to somebody else, is absent. So a desired object can be compared with a live one field by field.
//
// What is in the pod template restarts pods when it changes. Keys are mounted as folders and read again by the server, and
// moderation settings are pushed to it: neither is in the template. A new version of the operator must render the same
// template for the same spec and image; a change of the golden files under testdata is a restart of every network.
package render
