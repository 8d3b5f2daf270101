// Package render turns the spec of a SocialNetwork into objects. Every function is pure: it uses no client, clock or
// randomness, and equal inputs give equal bytes. testdata/golden has the rendering of the samples.
//
// Objects have the form in which the API server returns them and set only the fields that the operator decides: fields
// that are left to the cluster's defaults or to other managers are absent. A desired object can therefore be compared
// with a live one field by field.
//
// Every change of the pod template restarts pods. Keys are mounted as folders that the server reads again, and
// moderation settings are pushed; neither is part of the template. A new version of the operator must render the same
// template for the same spec and image: a change of the golden files under testdata restarts every network.
package render
