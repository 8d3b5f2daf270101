// Package edge is the HTTP side of a region's server: one handler that speaks REST, Connect, gRPC and gRPC-Web, from the
// same service implementations.
//
// A request walks
//
//	ServeHTTP   request id, access log, metrics, the last recover
//	cors        preflights end here
//	rpcFront    /plaza.v1.…/… and the gRPC health and reflection services: straight to the connect handlers
//	restFront   everything else: routes, the habits of public clients, limits, then vanguard, then a connect handler
//	failures    interceptor: time limit, panics, one log line, and every error becomes what the wire shows
//	…           the interceptors of Options (who is calling)
//	validation  interceptor: what could not be decoded, text that no database takes, the rules in the proto files
//	page.Bind   interceptor: a page token is good for the list alone that gave it
//
// and comes back the same way. errors.go alone decides how a failure looks on the wire.
//
// What is limited here: the size of a body (plain and decompressed), the time of a unary call, the time in which a body
// has to arrive. What is limited at the listener, because a handler cannot: the size of the headers and the time in
// which they have to arrive; NewServer sets both.
package edge
