package render

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Labels that others set: the Prometheus operator on its pods, Kubernetes on namespaces.
const (
	prometheusName = "prometheus"
	labelNamespace = corev1.LabelMetadataName
)

// NetworkPolicy returns the policy of a region's pods, or nil if the spec disables it.
//
// Ingress: the API port from anywhere, the operations port from the operator and Prometheus, and the control port from the operator;
// policies do not apply to probes of the kubelet. Egress: DNS to anywhere, because a node-local DNS cache has a link-local address, and TCP
// to every address that is not link-local. The addresses of the database and of the storage are in Secrets that this
// package does not see, and those of managed databases change. This blocks the cloud's metadata service, which hands
// out the node's credentials, unless the region's ServiceAccount has annotations, such as those of a cloud identity.
func NetworkPolicy(n Network, r *v1alpha1.Region) *networkingv1.NetworkPolicy {
	return policy(n, n.regionMeta(r.Code), RegionSelector(n.SN.Name, r.Code), ingress(n), r)
}

// policy returns a policy of the pods with the labels of a selector, or nil if the spec disables it. The egress is that of a region's pods.
func policy(
	n Network, meta metav1.ObjectMeta, selector map[string]string, from []networkingv1.NetworkPolicyIngressRule, r *v1alpha1.Region,
) *networkingv1.NetworkPolicy {
	if !n.SN.Spec.NetworkPolicy.Enabled {
		return nil
	}
	return &networkingv1.NetworkPolicy{
		TypeMeta:   typeMeta(networkingv1.SchemeGroupVersion, "NetworkPolicy"),
		ObjectMeta: meta,
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: selector},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     from,
			Egress:      egress(r),
		},
	}
}

// ingress returns the rules for requests to servers. The control port has none in a member cluster, where the operator comes through
// the API server.
func ingress(n Network) []networkingv1.NetworkPolicyIngressRule {
	operator := operatorPeers(n)
	rules := []networkingv1.NetworkPolicyIngressRule{
		{Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, PortHTTP)}},
		{
			Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, PortOps)},
			From:  append(operator, metricsPeers(n.SN.Spec.NetworkPolicy)...),
		},
	}
	if len(operator) > 0 { // a rule without peers would allow all
		rules = append(rules, networkingv1.NetworkPolicyIngressRule{
			Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, PortControl)}, From: operatorPeers(n),
		})
	}
	return rules
}

// MigrationNetworkPolicy returns the policy of the migrations' pods, or nil if the spec disables it: no ingress, and the egress of
// the servers.
func MigrationNetworkPolicy(n Network) *networkingv1.NetworkPolicy {
	return policy(n, n.meta(MigrationName(n.SN.Name), ComponentMigrate), Labels(n.SN.Name, ComponentMigrate), nil, MigrationRegion(n))
}

func egress(r *v1alpha1.Region) []networkingv1.NetworkPolicyEgressRule {
	rules := []networkingv1.NetworkPolicyEgressRule{
		{Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolUDP, 53), policyPort(corev1.ProtocolTCP, 53)}},
		{
			Ports: []networkingv1.NetworkPolicyPort{{Protocol: new(corev1.ProtocolTCP)}},
			To: []networkingv1.NetworkPolicyPeer{
				{IPBlock: &networkingv1.IPBlock{CIDR: "0.0.0.0/0", Except: []string{"169.254.0.0/16"}}},
				{IPBlock: &networkingv1.IPBlock{CIDR: "::/0", Except: []string{"fd00:ec2::254/128", "fe80::/10"}}},
			},
		},
	}
	if len(r.ServiceAccountAnnotations) > 0 {
		rules = append(rules, identityAgents())
	}
	return rules
}

// identityAgents allows the agents that hand out the credentials of a ServiceAccount's cloud identity: those of EKS Pod Identity,
// and the metadata server of GKE, whose second address and port are behind its first.
func identityAgents() networkingv1.NetworkPolicyEgressRule {
	rule := networkingv1.NetworkPolicyEgressRule{
		Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, 80), policyPort(corev1.ProtocolTCP, 988)},
	}
	for _, cidr := range []string{"169.254.170.23/32", "fd00:ec2::23/128", "169.254.169.252/32", "169.254.169.254/32"} {
		rule.To = append(rule.To, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: cidr}})
	}
	return rule
}

func policyPort(protocol corev1.Protocol, port int32) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: new(intstr.FromInt32(port))}
}

// operatorPeers returns the pods of the operator. It reaches the pods of a member cluster through the API server there, which
// policies do not apply to.
func operatorPeers(n Network) []networkingv1.NetworkPolicyPeer {
	if n.Cluster != "" {
		return nil
	}
	where := &metav1.LabelSelector{}
	if n.OperatorNamespace != "" {
		where.MatchLabels = map[string]string{labelNamespace: n.OperatorNamespace}
	}
	return []networkingv1.NetworkPolicyPeer{{
		NamespaceSelector: where,
		PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{LabelName: OperatorName}},
	}}
}

// metricsPeers returns the pods that may scrape servers.
func metricsPeers(policy v1alpha1.NetworkPolicy) []networkingv1.NetworkPolicyPeer {
	if len(policy.MetricsFrom) == 0 {
		return []networkingv1.NetworkPolicyPeer{{
			NamespaceSelector: &metav1.LabelSelector{},
			PodSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{LabelName: prometheusName}},
		}}
	}
	var peers []networkingv1.NetworkPolicyPeer
	for i := range policy.MetricsFrom {
		peers = append(peers, *policy.MetricsFrom[i].DeepCopy())
	}
	return peers
}
