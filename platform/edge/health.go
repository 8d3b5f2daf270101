package edge

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
)

// readiness answers gRPC health checks, with the same status for the server and for each of its services.
type readiness struct {
	ready    func(context.Context) error
	services map[string]http.Handler
}

// Check implements grpchealth.Checker.
func (c readiness) Check(ctx context.Context, request *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	if _, known := c.services[request.Service]; request.Service != "" && !known {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("unknown service %q", request.Service))
	}
	status := grpchealth.StatusServing
	if c.ready != nil && c.ready(ctx) != nil {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}

// withOperations returns services with the gRPC health and reflection services added.
func withOperations(services map[string]http.Handler, ready func(context.Context) error, maxBody int64) map[string]http.Handler {
	all := make(map[string]http.Handler, len(services)+3)
	maps.Copy(all, services)
	add := func(path string, handler http.Handler) { all[strings.Trim(path, "/")] = handler }
	limit := connect.WithReadMaxBytes(int(min(maxBody, maxOperationsBody)))
	reflector := grpcreflect.NewStaticReflector(append(serviceNames(services), grpchealth.HealthV1ServiceName)...)
	add(grpchealth.NewHandler(readiness{ready: ready, services: services}, limit))
	add(grpcreflect.NewHandlerV1(reflector, limit))
	add(grpcreflect.NewHandlerV1Alpha(reflector, limit))
	return all
}

// maxOperationsBody limits health and reflection requests, in bytes.
const maxOperationsBody = 64 << 10
