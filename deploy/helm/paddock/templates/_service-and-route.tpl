{{/*
The Service of one of our services, with its Ingress and its route of the Gateway API. Takes root,
name (behind the release's), service, values, port (of the container), path, pathType and
routeMatch.
*/}}
{{- define "paddock.serviceAndRoute" -}}
{{- $name := printf "%s-%s" (include "paddock.fullname" .root) .name -}}
apiVersion: v1
kind: Service
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
  {{- with .values.service.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  type: {{ .values.service.type }}
  selector: {{- include "paddock.selector" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .service }}
  # Health and metrics are on another port, which no Service has.
  ports:
    - { name: http, port: {{ .values.service.port }}, targetPort: {{ .port }} }
  {{- with omit .values.service.spec "type" "selector" "ports" }}{{- toYaml . | nindent 2 }}{{- end }}
{{- if .values.ingress.enabled }}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
  {{- with .values.ingress.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- with .values.ingress.className }}
  ingressClassName: {{ . | quote }}
  {{- end }}
  {{- if .values.ingress.tlsSecret }}
  tls: [{ hosts: [{{ .values.ingress.host | quote }}], secretName: {{ .values.ingress.tlsSecret | quote }} }]
  {{- end }}
  rules:
    - host: {{ .values.ingress.host | quote }}
      http:
        paths:
          - path: {{ .path }}
            pathType: {{ .pathType }}
            backend: { service: { name: {{ $name | quote }}, port: { name: http } } }
{{- end }}
{{- if .values.gateway.enabled }}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ $name | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels: {{- include "paddock.labels" .root | nindent 4 }}
  {{- with .values.gateway.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  parentRefs: {{- toYaml .values.gateway.parentRefs | nindent 4 }}
  {{- with .values.gateway.hostnames }}
  hostnames: {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - matches: [{{ .routeMatch }}]
      backendRefs: [{ name: {{ $name | quote }}, port: {{ .values.service.port }} }]
{{- end }}
{{- end -}}
