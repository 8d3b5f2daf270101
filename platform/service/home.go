package service

import "github.com/plaza-social/plaza/platform/region"

// HomeOf is where the row of one of our own ids lives.
func HomeOf(id string) region.Code {
	home, _ := region.HomeOf(id) // ids that were read from a row are well formed
	return home
}
