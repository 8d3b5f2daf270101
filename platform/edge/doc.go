// Package edge is the HTTP side of a region's server: one handler that serves REST, Connect, gRPC and gRPC-Web with the
// same service implementations.
//
// A request passes:
//
//	ServeHTTP    request id, access log, metrics, the last recover
//	cors         answers preflights
//	rpcHandler   /plaza.v1.…/… and the gRPC health and reflection services: calls connect's handlers
//	restHandler  everything else: matches the route, reads the body, calls connect's handler of the operation
//	failures     interceptor: time limit, panics, one log line per error, mapping to the errors of the interface
//	transcode    interceptor, REST only: fills the request message from body, path and query, keeps the response
//	…            the interceptors of Options, such as authentication
//	page.Bind    interceptor: binds page tokens to the list that issued them, and adds the parameters in them to the request
//	validation   interceptor: decoding errors, text that a database would reject, the rules in the proto files
//
// The response passes them in reverse order. For REST, connect's handler only runs the interceptors: restHandler writes
// the response itself. What the proto files declare, such as routes and the options of options.proto, is read once, by
// New; see schema. errors.go alone decides how errors look.
//
// The handler limits the size of a body, compressed and decompressed, the time of a unary call, and the time in which a
// body must arrive. NewServer sets the limits that only a listener can enforce.
package edge
