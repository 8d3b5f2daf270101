package service

import plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"

// StatusSuccess returns the response of operations that report only success.
func StatusSuccess() *plazav1.StatusSuccessResponse {
	return &plazav1.StatusSuccessResponse{Status: "success", Data: &plazav1.SuccessResponse{Success: true}, Success: true}
}
