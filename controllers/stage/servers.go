package stage

import (
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
)

// RegionsWhere returns the regions with a server for which is returns true, in the order of the spec.
func (p *Pass) RegionsWhere(is func(ServerReport) bool) []v1alpha1.RegionCode {
	var codes []v1alpha1.RegionCode
	for _, region := range p.SN.Spec.Regions {
		if slices.ContainsFunc(p.Reports[region.Code], is) {
			codes = append(codes, region.Code)
		}
	}
	return codes
}

// AllReports returns the reports of all servers, in the order of the spec's regions.
func (p *Pass) AllReports() []ServerReport {
	var all []ServerReport
	for _, region := range p.SN.Spec.Regions {
		all = append(all, p.Reports[region.Code]...)
	}
	return all
}

// Receiver returns the server of a region to which settings are pushed: of those for which is returns true, one with a control port,
// if there is one. The region must have a server for which is returns true.
func (p *Pass) Receiver(code v1alpha1.RegionCode, is func(ServerReport) bool) platformclient.Server {
	reports := p.Reports[code]
	i := slices.IndexFunc(reports, func(report ServerReport) bool { return is(report) && report.Server.Control != "" })
	if i < 0 {
		i = slices.IndexFunc(reports, is)
	}
	return reports[i].Server
}

// Silence returns the reason and the message of a condition that is Unknown because not every server reports what, or an empty
// reason. why returns why a server does not, or "". Evacuated regions do not count.
func (p *Pass) Silence(what string, why func(ServerReport) string) (v1alpha1.Reason, string) {
	if c := p.Unusable(); c != nil {
		return c.Reason, c.Message
	}
	var without []v1alpha1.RegionCode
	var silent []string
	for _, region := range p.SN.Spec.Regions {
		reports := p.Reports[region.Code]
		if region.EvacuateTo != "" {
			continue
		}
		if len(reports) == 0 {
			without = append(without, region.Code)
		}
		if i := slices.IndexFunc(reports, func(r ServerReport) bool { return why(r) != "" }); i >= 0 {
			silent = append(silent, fmt.Sprintf("%s (pod %s: %s)", region.Code, reports[i].Pod, why(reports[i])))
		}
	}
	switch {
	case len(without) > 0:
		return v1alpha1.ReasonNoServers, fmt.Sprintf("No server is ready in %s.", JoinNames(without))
	case len(silent) > 0:
		return v1alpha1.ReasonServersSilent, fmt.Sprintf("Servers do not report their %s in %s.", what, JoinNames(silent))
	}
	return "", ""
}
