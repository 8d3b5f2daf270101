// Package v1alpha1 contains version v1alpha1 of the API group plaza.social with the kind SocialNetwork.
//
// +kubebuilder:object:generate=true
// +groupName=plaza.social
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of the SocialNetwork.
const Group = "plaza.social"

// Kind is the kind of the SocialNetwork.
const Kind = "SocialNetwork"

var (
	// GroupVersion is the group and version of the types of this package.
	GroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

	// SchemeBuilder adds the types of this package to a scheme.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &SocialNetwork{}, &SocialNetworkList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
