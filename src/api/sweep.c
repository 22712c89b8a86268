/* sweep.c -- ordered sweeps in place: the public face of native/sweep_*.c. */
#include <arras/sweep.h>

#include "native/native.h"

arras_status arras_sweep_open(arras_sweeping **out, const arras_sweep_request *request,
                              arras_error *err)
{
    if (!out || !request)
        return ar_fail(err, ARRAS_EINVAL, "sweep: %s is NULL", out ? "the request" : "out");
    return ar_sweeping_open(out, request, NULL, err);
}

arras_status arras_sweep_run(arras_sweep_report *report, arras_sweeping *s, arras_error *err)
{
    return s ? ar_sweeping_run(report, s, err)
             : ar_fail(err, ARRAS_EINVAL, "sweep: there is none to run");
}

void arras_sweep_close(arras_sweeping *s)
{
    if (s)
        ar_sweeping_close(s);
}

void arras_sweep_cancel(arras_sweeping *s)
{
    if (s)
        ar_sweeping_cancel(s);
}

double arras_sweep_progress(const arras_sweeping *s) { return s ? ar_sweeping_progress(s) : -1; }

arras_status arras_sweep(arras_sweep_report *report, const arras_sweep_request *request,
                         arras_error *err)
{
    arras_sweeping *s;
    arras_status    status = arras_sweep_open(&s, request, err);

    if (status != ARRAS_OK)
        return status;
    status = arras_sweep_run(report, s, err);
    arras_sweep_close(s);
    return status;
}
