package stage

import (
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/api/v1alpha1"
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

// firstWhere returns the first report of a region for which is returns true. There must be one.
func (p *Pass) firstWhere(code v1alpha1.RegionCode, is func(ServerReport) bool) ServerReport {
	reports := p.Reports[code]
	return reports[slices.IndexFunc(reports, is)]
}

// silence returns the reason and the message of a condition that is Unknown because not every server reports what, or an empty
// reason. why returns why a server does not, or "". Evacuated regions do not count.
func (p *Pass) silence(what string, why func(ServerReport) string) (v1alpha1.Reason, string) {
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
