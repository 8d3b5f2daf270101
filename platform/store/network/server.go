package network

import (
	"slices"
	"strconv"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Server is a row of servers: a running server.
type Server struct {
	ID           string
	Version      string
	Capabilities []string
	MoveRoutes   []string // that it follows, see FollowedRoutes
}

// CapabilityMoves is the capability of servers that follow where the rows of moved users are, see db.Routes. All others look for
// them at the home that the id contains.
const CapabilityMoves = "moves"

// CapabilityMoveRoutes is the capability of servers that store which routes of unfinished moves they follow, so that nothing waits
// longer for them than they need.
const CapabilityMoveRoutes = "move routes"

// CapabilityErasures is the capability of servers that follow erasures, see RouteErasing.
const CapabilityErasures = "erasures"

var serverColumns = db.Columns[Server]()

// A server announces itself several times a minute. The database's clock is the one that all servers share.
var (
	sqlServerAnnounce = db.Register("servers.announce", `INSERT INTO servers (home, id, version, capabilities, move_routes, seen_at)
		VALUES ($1, $2, $3, $4::text[], $5::text[], now())
		ON CONFLICT (home, id) DO UPDATE SET version = excluded.version, capabilities = excluded.capabilities, move_routes = excluded.move_routes,
		seen_at = excluded.seen_at`)
	sqlServersSweep   = db.Register("servers.sweep", `DELETE FROM servers WHERE home = $1 AND seen_at < now() - INTERVAL '1 day'`)
	sqlServerWithdraw = db.Register("servers.withdraw", `DELETE FROM servers WHERE home = $1 AND id = $2`)
	sqlServersWithout = db.Register("servers.without", `SELECT `+serverColumns+` FROM servers
		WHERE home = $1 AND seen_at > now() - INTERVAL '1 minute' AND NOT $2::text = ANY(capabilities) ORDER BY seen_at DESC LIMIT 10`)
	sqlServersFollowing = db.Register("servers.following", `SELECT id, $2::text = ANY(move_routes) AS follows FROM servers
		WHERE home = $1 AND seen_at > now() - INTERVAL '1 minute' ORDER BY seen_at DESC LIMIT $3::bigint`)
)

// AnnounceServer records that a server is running, and deletes the rows of those that stopped long ago.
func (w Tx) AnnounceServer(s Server) {
	w.Exec(sqlServersSweep)
	w.Exec(sqlServerAnnounce, s.ID, s.Version, core.EmptyIfNil(s.Capabilities), core.EmptyIfNil(s.MoveRoutes))
}

// WithdrawServer records that a server stops.
func (w Tx) WithdrawServer(id string) { w.Exec(sqlServerWithdraw, id) }

// ServersWithout reads up to 10 running servers of each home that lack a capability.
func (r ReadBatch) ServersWithout(capability string, into *[]Server) {
	*into = nil
	core.ReadEveryHome(r.ReadBatch, sqlServersWithout, into, capability)
}

// maxFollowing is the maximum number of servers of a home of which ServersBehind reads what they follow.
const maxFollowing = 1000

// following is a running server, and whether it follows a route.
type following struct {
	ID      string
	Follows bool
}

// ServersBehind reads whether a running server does not follow a version of the route of a user yet.
func (r ReadBatch) ServersBehind(userID string, version int64, into *bool) {
	var homes [3][]following
	for i, home := range region.All() {
		r.Add(home, sqlServersFollowing, db.Rows(&homes[i]), followedRoute(userID, version), maxFollowing)
	}
	r.Then(func() {
		follows := map[string]bool{} // a server can have rows at several homes
		*into = false
		for _, servers := range homes {
			*into = *into || len(servers) == maxFollowing
			for _, s := range servers {
				follows[s.ID] = follows[s.ID] || s.Follows
			}
		}
		for _, ok := range follows {
			*into = *into || !ok
		}
	})
}

// FollowedRoutes returns routes as they are stored with a server, in order.
func FollowedRoutes(routes db.Followed) []string {
	all := make([]string, 0, len(routes))
	for userID, version := range routes {
		all = append(all, followedRoute(userID, version))
	}
	slices.Sort(all)
	return all
}

func followedRoute(userID string, version int64) string {
	return userID + " " + strconv.FormatInt(version, 10)
}
