package config

import (
	"cmp"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// commonDatabaseURL returns the URL for all homes; where none is given, that of the own region, or else any. Every URL leads to
// the same database, so each reaches every row, only by a longer way.
func (c Config) commonDatabaseURL() telemetry.SecretURL {
	own := map[region.Code]telemetry.SecretURL{
		region.US: c.DatabaseURLUS, region.EU: c.DatabaseURLEU, region.SG: c.DatabaseURLSG,
	}
	return cmp.Or(c.DatabaseURL, own[c.Region], c.DatabaseURLUS, c.DatabaseURLEU, c.DatabaseURLSG)
}
