package config

import (
	"cmp"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// commonDatabaseURL returns the URL for all homes: database-url, else the URL of the server's own region, else any. All
// URLs lead to the same database and therefore to every row, with different latency.
func (c Config) commonDatabaseURL() telemetry.SecretURL {
	own := map[region.Code]telemetry.SecretURL{
		region.US: c.DatabaseURLUS, region.EU: c.DatabaseURLEU, region.SG: c.DatabaseURLSG,
	}
	return cmp.Or(c.DatabaseURL, own[c.Region], c.DatabaseURLUS, c.DatabaseURLEU, c.DatabaseURLSG)
}
