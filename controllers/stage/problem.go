package stage

import (
	"slices"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Problem is a reason for a condition not to be True.
type Problem struct {
	Reason  v1alpha1.Reason
	Message string
}

// First returns the first problem whose reason is of the first kind that there is, or nil if there is no problem.
func First(problems []Problem, kinds ...func(v1alpha1.Reason) bool) *Problem {
	for _, is := range append(kinds, func(v1alpha1.Reason) bool { return true }) {
		if i := slices.IndexFunc(problems, func(p Problem) bool { return is(p.Reason) }); i >= 0 {
			return &problems[i]
		}
	}
	return nil
}
