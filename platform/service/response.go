package service

import plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"

// Success returns the response of an operation that returns nothing but its success.
func Success() *plazav1.SuccessResponse { return &plazav1.SuccessResponse{Success: true} }

// StatusSuccess is Success for the operations whose response also has a status and a data field.
func StatusSuccess() *plazav1.StatusSuccessResponse {
	return &plazav1.StatusSuccessResponse{Status: "success", Data: Success(), Success: true}
}
